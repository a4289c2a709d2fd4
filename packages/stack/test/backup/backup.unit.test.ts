import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { headerOf, type LogReader, type LogRecord } from '@orderflow/kafka-log'
import { deadLetterHeaders, replayedFrom } from '@orderflow/service-kit/log'
import { noteHeaders } from '@orderflow/service-kit/operations'
import { FakeLog } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { saveLog } from '../../src/backup/backup.ts'
import {
  backupReader,
  type Content,
  readContent,
  requireComplete,
  saveRecords,
  writeContent,
} from '../../src/backup/folder.ts'
import { positionsIn, withPositions } from '../../src/backup/restore.ts'

const [topic, answers] = ['requests', 'answers']
const dead = `${topic}.dead`
type Log = Pick<LogReader, 'spans' | 'read' | 'at'>

describe('a backup', () => {
  let folder: string
  let log: FakeLog
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'backup-'))
    log = new FakeLog()
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  const save = ({
    from = log,
    now = 0,
    retentionMs = -1,
  }: {
    from?: Log
    now?: number
    retentionMs?: number
  } = {}): Promise<Content> => {
    const topics = { log: from, events: [topic, answers], deadLetters: [dead] }
    const retention = new Map([topic, answers, dead].map((name) => [name, retentionMs]))
    return saveLog(folder, topics, { savedAt: new Date(now), retention, positions: [] })
  }
  const saved = async (content: Content, name = topic): Promise<LogRecord[]> => {
    const reader = backupReader(folder, content)
    const records: LogRecord[] = []
    for await (const chunk of reader.read(name, await reader.spans(name))) records.push(...chunk)
    return records
  }
  const filesOf = (partition = 0) => readdirSync(join(folder, topic, String(partition)))

  it('keeps all bytes, the time and the partition of each record', async () => {
    const binary = Buffer.from([0, 255, 10, 13])
    log.append({
      topic,
      key: binary,
      value: binary,
      headers: [
        [binary, binary],
        [binary, Buffer.from('again')],
      ],
    })
    log.append({ topic, partition: 2, key: undefined, value: '', timestamp: 1_764_331_200_000 })
    const contentsOf = (records: LogRecord[]) => records.map(({ appendedAt: _, ...record }) => record)
    expect(contentsOf(await saved(await save()))).to.deep.equal(contentsOf(log.records))
  })

  it('lets only its owner read files, because events have personal data', async () => {
    log.append({ topic })
    await save()
    for (const path of ['backup.json', join(topic, '0', filesOf()[0] ?? '')])
      expect(statSync(join(folder, path)).mode & 0o77, path).to.equal(0)
  })

  it('adds new records to its last file, and stays the same without new records', async () => {
    log.append({ topic, value: 'first' })
    await save()
    expect(filesOf()).to.deep.equal(['00000000000000000000-00000000000000000000.jsonl.gz'])
    log.append({ topic, value: 'second' })
    await save()
    const content = await save()
    expect(filesOf()).to.deep.equal(['00000000000000000000-00000000000000000001.jsonl.gz'])
    expect((await saved(content)).map(({ value }) => value.toString())).to.deep.equal(['first', 'second'])
  })

  it('begins another file after 8 MiB, and after an offset without a record', async () => {
    const value = Buffer.alloc(1024 * 1024)
    const record = (offset: bigint): LogRecord => ({
      ...{ topic, partition: 0, offset, timestamp: 0, appendedAt: 0, key: undefined, value, headers: [] },
    })
    const offsets = Array.from({ length: 12 }, (_, index) => BigInt(index < 10 ? index : index + 5))
    const source = (async function* () {
      yield offsets.map(record)
    })()
    await saveRecords(folder, { topic, partition: 0, source })
    expect(filesOf().map((name) => name.replace('.jsonl.gz', '').split('-').map(Number))).to.deep.equal([
      [0, 7],
      [8, 9],
      [15, 16],
    ])
  })

  it('contains the cause of each event, although events arrive during the backup', async () => {
    log.append({ topic, value: 'a', timestamp: 1 })
    const busy = new FakeLog()
    busy.records.push(...log.records)
    let readings = 0
    const from: Log = {
      spans: (name, range) => {
        readings += 1
        // A request and its answer arrive before each reading.
        busy.append({ topic, value: `request ${readings}`, timestamp: 10 * readings })
        busy.append({ topic: answers, value: `request ${readings}`, timestamp: 10 * readings + 1 })
        return busy.spans(name, range)
      },
      read: (name, spans) => busy.read(name, spans),
      at: (position) => busy.at(position),
    }
    const content = await save({ from })
    const [requests, replies] = [await saved(content), await saved(content, answers)]
    const known = requests.map(({ value }) => value.toString())
    expect(replies).not.to.have.length(0)
    expect(known).to.include.members(replies.map(({ value }) => value.toString()))
  })

  it('contains a record whose time is later than the clock after a correction, and all records after it', async () => {
    const times = [10, 11, 5_000, 12, 13, 14, 15]
    for (const timestamp of times) log.append({ topic, timestamp })
    log.append({ topic: answers, timestamp: 14 })
    log.append({ topic: answers, timestamp: 1 })
    const content = await save()
    expect((await saved(content)).map(({ timestamp }) => timestamp)).to.deep.equal(times)
    expect(await saved(content, answers)).to.have.length(2)
    log.append({ topic, timestamp: 16 })
    expect(await saved(await save())).to.have.length(times.length + 1)
  })

  it('contains the cause of each event of a cycle, although the clock was corrected before the backup', async () => {
    const busy = new FakeLog()
    busy.append({ topic, value: 'late', timestamp: 5_000 })
    let readings = 0
    const grow = (name: string, value: string) => busy.append({ topic: name, value, timestamp: 10 + readings++ })
    const from: Log = {
      spans: async (name, range) => {
        const spans = await busy.spans(name, range)
        // Between the readings of two topics, a request and its answer arrive, and the request that follows from this answer.
        const pair = `pair ${readings}`
        grow(topic, pair)
        grow(answers, pair)
        grow(topic, `after ${pair}`)
        return spans
      },
      read: (name, spans) => busy.read(name, spans),
      at: (position) => busy.at(position),
    }
    const content = await save({ from })
    const values = async (name: string) => (await saved(content, name)).map(({ value }) => value.toString())
    const [requests, replies] = [await values(topic), await values(answers)]
    expect(requests).to.include('late')
    expect(replies).not.to.have.length(0)
    expect(requests).to.include.members(replies)
    const following = requests.flatMap((value) => value.match(/^after (.*)/)?.[1] ?? [])
    expect(replies).to.include.members(following)
  })

  it('keeps the last complete backup if a later one is interrupted', async () => {
    log.append({ topic, value: 'first' })
    await save()
    log.append({ topic, value: 'second' })
    const broken: Log = {
      spans: (name, range) => log.spans(name, range),
      at: (position) => log.at(position),
      read: (name, spans) => {
        if (name !== topic) throw new Error('killed')
        return log.read(name, spans)
      },
    }
    log.append({ topic: answers })
    await save({ from: broken }).then(
      () => expect.fail('the backup was complete'),
      () => {},
    )
    const content = readContent(folder) as Content
    requireComplete(folder, content)
    expect((await saved(content)).map(({ value }) => value.toString())).to.deep.equal(['first'])
  })

  it('refuses another log, and a log that has lost records', async () => {
    log.append({ topic, value: 'first' })
    log.append({ topic, value: 'second' })
    await save()
    const other = new FakeLog()
    other.append({ topic, value: 'first' })
    const refused = async (from: FakeLog) => {
      const error = await save({ from }).catch((error: Error) => error)
      expect(error).to.have.property('message').that.includes('the backup has another log: requests/0 differs')
    }
    await refused(other)
    other.append({ topic, value: 'another second' })
    await refused(other)
  })

  const textsIn = (path: string): string =>
    readdirSync(path, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'backup.json')
      .map(({ parentPath, name }) => gunzipSync(readFileSync(join(parentPath, name))).toString())
      .join('')
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const remove = (offset: number, name = topic) =>
    log.removeBefore({ topic: name, partition: 0, offset: String(offset) })
  const texts = async (content: Content, name = topic) =>
    (await saved(content, name)).map(({ value }) => value.toString())

  it('forgets the records that Kafka has removed, also those in a file with newer records', async () => {
    for (const value of ['first', 'second', 'third']) log.append({ topic, value })
    await save()
    log.append({ topic, value: 'fourth' })
    remove(2)
    const content = await save()
    requireComplete(folder, content)
    expect(await texts(content)).to.deep.equal(['third', 'fourth'])
    expect(filesOf()).to.deep.equal(['00000000000000000002-00000000000000000003.jsonl.gz'])
    for (const value of ['first', 'second']) expect(textsIn(folder)).not.to.include(base64(value))
    remove(4)
    const empty = await save()
    requireComplete(folder, empty)
    expect(await texts(empty)).to.deep.equal([])
    expect(filesOf()).to.deep.equal([])
    log.append({ topic, value: 'fifth' })
    expect(await texts(await save())).to.deep.equal(['fifth'])
  })

  it('keeps the records that Kafka keeps, whatever the clock and their times', async () => {
    for (const timestamp of [1_000, 1, 2_000]) log.append({ topic, timestamp })
    expect(await saved(await save({ now: 1e13, retentionMs: 500 }))).to.have.length(3)
  })

  it('stays complete if it is killed at any step while it forgets', async () => {
    const file = (first: number, last: number) =>
      join(folder, topic, '0', `${[first, last].map((each) => String(each).padStart(20, '0')).join('-')}.jsonl.gz`)
    for (const value of ['first', 'second', 'third']) log.append({ topic, value })
    await save()
    const old = readFileSync(file(0, 2))
    remove(1)
    await save()
    const current = readContent(folder) as Content
    // Before the new file, while it is written, and before the old file is removed.
    for (const present of [[], ['.4711.new'], ['']]) {
      rmSync(file(1, 2), { force: true })
      writeFileSync(file(0, 2), old)
      for (const ending of present) writeFileSync(`${file(1, 2)}${ending}`, old.subarray(0, ending ? 9 : undefined))
      requireComplete(folder, current)
      expect(await texts(current)).to.deep.equal(['second', 'third'])
      await save()
      expect(filesOf(), `after ${present}`).to.deep.equal(['00000000000000000001-00000000000000000002.jsonl.gz'])
      expect(textsIn(folder)).not.to.include(base64('first'))
    }
  })

  it('removes the files of killed runs and of topics that services.json no longer declares', async () => {
    log.append({ topic, value: 'first' })
    await save()
    const [name = ''] = filesOf()
    log.append({ topic, value: 'second' })
    const before = readFileSync(join(folder, topic, '0', name))
    await save()
    writeFileSync(join(folder, topic, '0', name), before)
    writeFileSync(join(folder, topic, '0', `${name}.4711.new`), before)
    mkdirSync(join(folder, 'former/0'), { recursive: true })
    writeFileSync(join(folder, 'former/0', name), before)
    mkdirSync(join(folder, 'notes'))
    writeFileSync(join(folder, 'notes/mine.txt'), 'not from a backup')
    await save()
    expect(filesOf()).to.deep.equal(['00000000000000000000-00000000000000000001.jsonl.gz'])
    expect(readdirSync(join(folder, 'former/0'))).to.deep.equal([])
    expect(readdirSync(join(folder, 'notes'))).to.deep.equal(['mine.txt'])
  })

  it('contains only positions in its own topics', async () => {
    log.append({ topic })
    const topics = { log, events: [topic], deadLetters: [] }
    const positions = [topic, 'former'].map((name) => ({ group: 'g', topic: name, partition: 0, offset: 1n }))
    const content = await saveLog(folder, topics, { savedAt: new Date(0), retention: new Map(), positions })
    expect(content.positions).to.deep.equal([{ group: 'g', topic, partition: 0, offset: '1' }])
  })

  it('refuses to continue if it could not be restored, or has another application', async () => {
    log.append({ topic })
    await save()
    const content = readContent(folder) as Content
    const refusal = () => save().catch((error: Error) => error)
    writeContent(folder, { ...content, application: 'another' })
    expect(await refusal())
      .to.have.property('message')
      .that.includes('has a backup of another')
    const none = { start: '0', end: '0', records: '0' }
    const more = { retentionMs: -1, partitions: [none, none, none, none] }
    writeContent(folder, { ...content, topics: { ...content.topics, [answers]: more } })
    expect(await refusal())
      .to.have.property('message')
      .that.includes('answers has 3 partitions, and 4 in the backup')
    writeContent(folder, content)
    rmSync(join(folder, topic, '0', filesOf()[0] ?? ''))
    expect(await refusal())
      .to.have.property('message')
      .that.includes('it has 0 records instead of 1')
  })

  it('reports a missing file and a damaged file', async () => {
    log.append({ topic })
    const content = await save()
    const file = join(folder, topic, '0', filesOf()[0] ?? '')
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.subarray(0, -9))
    const error = await saved(content).catch((error: Error) => error)
    expect(error).to.have.property('message').that.includes(`${file} is damaged`)
    rmSync(file)
    expect(() => requireComplete(folder, content)).to.throw('requests/0 is damaged: it has 0 records instead of 1')
  })

  it('gives dead letters, notes and replayed events the positions of the restored log', async () => {
    const record = (name: string, offset: bigint, headers: Record<string, string> = {}): LogRecord => ({
      ...{ topic: name, partition: 0, offset, timestamp: 0, appendedAt: 0, key: undefined, value: Buffer.alloc(0) },
      headers: Object.entries(headers).map(([key, text]) => [Buffer.from(key), Buffer.from(text)]),
    })
    const keep = async (name: string, ...offsets: bigint[]) => {
      const source = (async function* () {
        yield offsets.map((offset) => record(name, offset))
      })()
      await saveRecords(folder, { topic: name, partition: 0, source })
    }
    await keep(topic, 100n, 101n, 105n)
    const first = { start: '100', end: '106', records: '3' }
    const partitions = [first]
    const content = {
      application: '',
      savedAt: '',
      positions: [],
      topics: { [topic]: { retentionMs: -1, partitions } },
    }
    const move = positionsIn(folder, content)
    const failed = {
      [deadLetterHeaders.topic]: topic,
      [deadLetterHeaders.partition]: '0',
      [deadLetterHeaders.offset]: '101',
      [deadLetterHeaders.replayed]: `${topic}/0/105`,
    }
    const moved = withPositions(record(dead, 7n, failed), move)
    expect(headerOf(moved, deadLetterHeaders.offset)).to.equal('1')
    expect(headerOf(moved, deadLetterHeaders.replayed)).to.equal(`${topic}/0/2`)
    const note = withPositions(record(dead, 8n, { [noteHeaders.of]: `${topic}/0/101` }), move)
    expect(headerOf(note, noteHeaders.of)).to.equal(`${topic}/0/1`)
    // The backup does not have this record.
    const replay = withPositions(record(topic, 105n, { [replayedFrom]: `${topic}/0/99`, other: 'same' }), move)
    expect(replay.headers.map((header) => header.map(String))).to.deep.equal([
      [replayedFrom, `${topic}/0/99`],
      ['other', 'same'],
    ])
    expect(move.before({ topic, partition: 0, offset: '106' })).to.equal(3n)
    // The last backup was killed before it removed the first record, which Kafka had removed.
    const later = { ...content, topics: { [topic]: { retentionMs: -1, partitions: [{ ...first, start: '101' }] } } }
    const shifted = positionsIn(folder, later)
    expect(shifted.before({ topic, partition: 0, offset: '106' })).to.equal(2n)
    expect(shifted.of({ topic, partition: 0, offset: '105' })).to.deep.equal({ topic, partition: 0, offset: '1' })
    expect(shifted.of({ topic, partition: 0, offset: '100' }).offset).to.equal('100')
  })
})
