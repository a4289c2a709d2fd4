import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { headerOf, type LogRecord } from '@orderflow/kafka-log'
import { deadLetterHeaders, replayedFrom } from '@orderflow/service-kit/log'
import { noteHeaders } from '@orderflow/service-kit/operations'
import { FakeLog } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { saveLog } from '../../src/backup/backup.ts'
import { type Content, readContent, requireComplete, saveRecords } from '../../src/backup/folder.ts'
import { positionsIn, withPositions } from '../../src/backup/restore.ts'
import { answers, backedUpLog, dead, type Log, topic } from './backed-up-log.ts'

describe('a backup', () => {
  const tested = backedUpLog()
  const { save, saved, filesOf } = tested

  it('keeps all bytes, the time and the partition of each record', async () => {
    const binary = Buffer.from([0, 255, 10, 13])
    tested.log.append({
      topic,
      key: binary,
      value: binary,
      headers: [
        [binary, binary],
        [binary, Buffer.from('again')],
      ],
    })
    tested.log.append({ topic, partition: 2, key: undefined, value: '', timestamp: 1_764_331_200_000 })
    const contentsOf = (records: LogRecord[]) => records.map(({ appendedAt: _, ...record }) => record)
    expect(contentsOf(await saved(await save()))).to.deep.equal(contentsOf(tested.log.records))
  })

  it('lets only its owner read files, because events have personal data', async () => {
    tested.log.append({ topic })
    await save()
    for (const path of ['backup.json', join(topic, '0', filesOf()[0] ?? '')])
      expect(statSync(join(tested.folder, path)).mode & 0o77, path).to.equal(0)
  })

  it('adds new records to its last file, and stays the same without new records', async () => {
    tested.log.append({ topic, value: 'first' })
    await save()
    expect(filesOf()).to.deep.equal(['00000000000000000000-00000000000000000000.jsonl.gz'])
    tested.log.append({ topic, value: 'second' })
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
    await saveRecords(tested.folder, { topic, partition: 0, source })
    expect(filesOf().map((name) => name.replace('.jsonl.gz', '').split('-').map(Number))).to.deep.equal([
      [0, 7],
      [8, 9],
      [15, 16],
    ])
  })

  it('contains the cause of each event, although events arrive during the backup', async () => {
    tested.log.append({ topic, value: 'a', timestamp: 1 })
    const busy = new FakeLog()
    busy.records.push(...tested.log.records)
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
    for (const timestamp of times) tested.log.append({ topic, timestamp })
    tested.log.append({ topic: answers, timestamp: 14 })
    tested.log.append({ topic: answers, timestamp: 1 })
    const content = await save()
    expect((await saved(content)).map(({ timestamp }) => timestamp)).to.deep.equal(times)
    expect(await saved(content, answers)).to.have.length(2)
    tested.log.append({ topic, timestamp: 16 })
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
    tested.log.append({ topic, value: 'first' })
    await save()
    tested.log.append({ topic, value: 'second' })
    const broken: Log = {
      spans: (name, range) => tested.log.spans(name, range),
      at: (position) => tested.log.at(position),
      read: (name, spans) => {
        if (name !== topic) throw new Error('killed')
        return tested.log.read(name, spans)
      },
    }
    tested.log.append({ topic: answers })
    await save({ from: broken }).then(
      () => expect.fail('the backup was complete'),
      () => {},
    )
    const content = readContent(tested.folder) as Content
    requireComplete(tested.folder, content)
    expect((await saved(content)).map(({ value }) => value.toString())).to.deep.equal(['first'])
  })

  it('refuses another log, and a log that has lost records', async () => {
    tested.log.append({ topic, value: 'first' })
    tested.log.append({ topic, value: 'second' })
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

  it('contains only positions in its own topics', async () => {
    tested.log.append({ topic })
    const topics = { log: tested.log, events: [topic], deadLetters: [] }
    const positions = [topic, 'former'].map((name) => ({ group: 'g', topic: name, partition: 0, offset: 1n }))
    const content = await saveLog(tested.folder, topics, { savedAt: new Date(0), retention: new Map(), positions })
    expect(content.positions).to.deep.equal([{ group: 'g', topic, partition: 0, offset: '1' }])
  })

  it('reports a missing file and a damaged file', async () => {
    tested.log.append({ topic })
    const content = await save()
    const file = join(tested.folder, topic, '0', filesOf()[0] ?? '')
    const bytes = readFileSync(file)
    writeFileSync(file, bytes.subarray(0, -9))
    const error = await saved(content).catch((error: Error) => error)
    expect(error).to.have.property('message').that.includes(`${file} is damaged`)
    rmSync(file)
    expect(() => requireComplete(tested.folder, content)).to.throw(
      'requests/0 is damaged: it has 0 records instead of 1',
    )
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
      await saveRecords(tested.folder, { topic: name, partition: 0, source })
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
    const move = positionsIn(tested.folder, content)
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
    const shifted = positionsIn(tested.folder, later)
    expect(shifted.before({ topic, partition: 0, offset: '106' })).to.equal(2n)
    expect(shifted.of({ topic, partition: 0, offset: '105' })).to.deep.equal({ topic, partition: 0, offset: '1' })
    expect(shifted.of({ topic, partition: 0, offset: '100' }).offset).to.equal('100')
  })
})
