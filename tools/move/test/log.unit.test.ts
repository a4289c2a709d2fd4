import { createHash } from 'node:crypto'
import { parseEnvelope, recordId } from '@orderflow/envelope'
import {
  deadLetterHeaders,
  headerOf,
  type LogRecord,
  originOf,
  positionText,
  type RecordPosition,
  replayedFrom,
} from '@orderflow/service-kit/log'
import {
  newestAttempt,
  readDeadLetters,
  readEvent,
  rebuildTopic,
  replayedRecord,
} from '@orderflow/service-kit/operations'
import { createSigner, signatureHeader } from '@orderflow/service-kit/trust'
import { repository } from '@orderflow/stack/base'
import { type Counts, copyTopic } from '@orderflow/stack/internals'
import { expect } from 'chai'
import { Offsets } from '../log/offsets.ts'
import { signerOf } from '../log/sign.ts'
import { type Change, changesIn, createTranslator, type TranslatorOptions } from '../log/translate.ts'
import { fixture, MemoryLog, oldLog } from './memory-log.ts'

const [topic, partition] = ['orderevents', 2]
const old = oldLog()
const oldEvents = old.records.filter((record) => record.topic === topic)

/** Copies both topics into a log. */
async function copy(
  to = new MemoryLog(),
  sign?: TranslatorOptions['sign'],
): Promise<{ to: MemoryLog; offsets: Offsets; counts: (Counts & { changes: Record<Change, number> })[] }> {
  const offsets = new Offsets()
  const translator = createTranslator({ offsets, at: (position) => old.at(position), ...(sign && { sign }) })
  const counts = []
  for (const name of [topic, `${topic}.dead`]) {
    const { translate, changes } = changesIn(name, translator)
    counts.push({ ...(await copyTopic(name, { from: old, to, translate, onProgress: () => {} })), changes })
  }
  return { to, offsets, counts }
}

const eventsOf = ({ records }: MemoryLog) => records.filter((record) => record.topic === topic)
const withoutIds = (value: Buffer) => value.toString().replaceAll(/"(Id|CorrelationId|TraceId)":"[^"]+",/g, '')
const digestOf = (value: Buffer) => createHash('sha256').update(value).digest('hex')
const idOf = (record: LogRecord | undefined) => record && recordId(record)

describe('copyTopic', () => {
  it('writes the ids into events that version 0.1.0 derived from positions', async () => {
    const events = eventsOf((await copy()).to)
    const found = events.flatMap(({ value }, index) => {
      try {
        const { Id, CorrelationId, TraceId } = parseEnvelope(value)
        return [[`${topic}/${partition}/${oldEvents[index]?.offset}`, { Id, CorrelationId, TraceId }]]
      } catch {
        return []
      }
    })
    expect(Object.fromEntries(found)).to.deep.equal(fixture.ids)
    expect(Object.keys(fixture.ids)).to.have.length(oldEvents.length - 2)
  })

  it('keeps key, time, order and all other bytes of events', async () => {
    const events = eventsOf((await copy()).to)
    const contentOf = ({ key, value, timestamp, partition }: LogRecord) => ({
      key,
      timestamp,
      partition,
      value: withoutIds(value),
    })
    expect(events.map(contentOf)).to.deep.equal(oldEvents.map(contentOf))
    expect(events.map(({ offset }) => offset)).to.deep.equal(oldEvents.map((_, index) => BigInt(index)))
    // The envelope of this event begins with white space.
    expect(events[1]?.value.toString()).to.match(/^\n\t\{"Id":"/)
    expect(events[0]?.value).to.deep.equal(oldEvents[0]?.value)
    expect(headerOf(events[3] as LogRecord, 'traceparent')).to.match(/^00-740027c2/)
  })

  it('counts records, and the changes to them', async () => {
    const [events, dead] = (await copy()).counts
    expect(events).to.deep.include({ read: 12, written: 12, before: 0 })
    expect(events?.changes).to.deep.equal({ ids: 8, signature: 0, 'no-envelope': 2 })
    expect(dead).to.deep.include({ read: 11, written: 11, before: 0 })
  })

  it('names the new origin and its record in a replayed event', async () => {
    const { to } = await copy()
    const replays = eventsOf(to).filter((record) => headerOf(record, replayedFrom))
    expect(replays).to.have.length(2)
    for (const replay of replays) {
      const origin = originOf({ ...replay, offset: String(replay.offset) }, headerOf(replay, replayedFrom))
      const first = await to.at(origin)
      expect(first?.key).to.deep.equal(replay.key)
      expect(headerOf(replay, replayedRecord)).to.equal(idOf(first))
    }
  })

  it('lists the same failures and replays as version 0.1.0', async () => {
    const { to, offsets } = await copy()
    const { entries, others } = await readDeadLetters(to)
    const moved = (offset: string) => offsets.moved({ topic, partition, offset }).offset
    const listed = entries.map(({ app, origin, attempts }) => ({
      app,
      origin: origin.offset,
      attempts: attempts.map(({ reason, position, replayed }) => ({
        ...{ reason, offset: position.offset },
        ...(replayed && { replayedAs: replayed.as.offset, edited: replayed.edited }),
      })),
    }))
    const wanted = fixture.entries.map(({ app, origin, attempts }) => ({
      app,
      origin: moved(origin),
      attempts: attempts.map(({ offset, replayedAs, ...attempt }) => ({
        ...attempt,
        offset: moved(offset),
        ...(replayedAs && { replayedAs: moved(replayedAs) }),
      })),
    }))
    expect(listed).to.deep.equal(wanted)
    expect(others).to.equal(0)
  })

  it('gives dead letters and notes the ids of their records, as this version does', async () => {
    const { to } = await copy()
    const { entries } = await readDeadLetters(to)
    const [deleted, ...stored] = entries
    for (const { id, record, origin, attempts } of stored) {
      const deadLetter = await to.at((attempts[0] as (typeof attempts)[number]).deadLetterPosition)
      expect(record).to.equal(idOf(await to.at(origin)))
      expect(headerOf(deadLetter as LogRecord, deadLetterHeaders.id)).to.equal(id)
      for (const { position, record, arrivedAt, replayed } of attempts) {
        expect([record, arrivedAt]).to.deep.equal([idOf(await to.at(position)), (await to.at(position))?.timestamp])
        if (replayed)
          expect([replayed.ofRecord, replayed.asRecord]).to.deep.equal([record, idOf(await to.at(replayed.as))])
      }
    }
    // The log has deleted the record of this dead letter.
    expect(deleted?.origin.offset).to.equal('3')
    expect(deleted?.record).to.match(/^[0-9a-f-]{36}$/)
  })

  it('keeps the event in a dead letter, or its digest', async () => {
    const { to } = await copy()
    for (const entry of (await readDeadLetters(to)).entries) {
      const { position, deadLetterPosition, arrivedAt } = newestAttempt(entry)
      const [event, deadLetter] = [
        await readEvent(to, { position, deadLetterPosition, arrivedAt }),
        await to.at(deadLetterPosition),
      ]
      const failed = entry.origin.offset === '3' ? deadLetter : await to.at(position)
      expect(event?.value).to.deep.equal(failed?.value)
      expect(event?.key).to.deep.equal(failed?.key)
      const digest = headerOf(deadLetter as LogRecord, deadLetterHeaders.cut)
      expect(digest ?? digestOf(deadLetter?.value as Buffer)).to.equal(digestOf(failed?.value as Buffer))
    }
  })

  it('lets a rebuild skip the events that a service of version 0.1.0 rejected', async () => {
    const { to } = await copy()
    const ids: string[] = []
    const counts = await rebuildTopic(
      topic,
      { OrderCreated: async ({ Id }: { Id: string }) => ids.push(Id) > 0 },
      {
        ...{
          app: 'payment-service',
          trust: { requireGenuine: () => {} },
          refusals: new Set<string>(),
          log: to,
          range: {},
        },
        ...{ onProgress: () => {}, onWait: () => {} },
      },
    )
    expect(counts).to.deep.include({ read: 12, applied: 7, aside: { 'invalid-payload': 3, 'not-json': 2 }, faulty: {} })
    const valid = [7, 8, 9, 16, 17, 18, 19].map((offset) => fixture.ids[`${topic}/${partition}/${offset}`]?.Id)
    expect(ids).to.have.members(valid)
  })

  it('signs events of services with the new key, and keeps the headers of other events', async () => {
    const [before, after] = [createSigner([fixture.signingKey]), createSigner(['a-new-key'])]
    const services = new Set(['6f1d2c1e-6b5a-4d0e-9c57-0d9a3c1b5e01'])
    const sign: TranslatorOptions['sign'] = ({ AppId }, record, value) =>
      services.has(AppId) && before.isBy(record.value, headerOf(record, signatureHeader))
        ? after.sign(value)
        : undefined
    const { to, counts } = await copy(new MemoryLog(), sign)
    const signed = eventsOf(to).filter((record) => headerOf(record, signatureHeader))
    expect(signed.map(({ value, ...record }) => after.isBy(value, headerOf(record, signatureHeader)))).to.deep.equal([
      true,
    ])
    expect(counts[0]?.changes.signature).to.equal(1)
  })

  it('signs the event in a dead letter, like its record', async () => {
    const signer = createSigner(['a-new-key'])
    const { to } = await copy(new MemoryLog(), (_event, _old, value) => signer.sign(value))
    const signatures: string[] = []
    // The old log has deleted the record of the first dead letter.
    for (const entry of (await readDeadLetters(to)).entries.slice(1)) {
      const { position, deadLetterPosition } = newestAttempt(entry)
      const [event, deadLetter] = [await to.at(position), await to.at(deadLetterPosition)]
      const signature = event && headerOf(event, signatureHeader)
      if (signature === undefined) continue
      expect(headerOf(deadLetter as LogRecord, signatureHeader)).to.equal(signature)
      signatures.push(signature)
    }
    expect(signatures).to.have.length(5)
  })

  it('keeps failures apart from other records that were written to their positions later', async () => {
    const index = old.records.findIndex((record) => record.topic === topic && record.offset === 18n)
    const [replaced] = old.records.splice(index, 1, { ...(old.records[index] as LogRecord), value: Buffer.from('{}') })
    const { to } = await copy().finally(() => old.records.splice(index, 1, replaced as LogRecord))
    const { entries, others } = await readDeadLetters(to)
    const entry = entries.find(({ app, attempts }) => app === 'order-service' && attempts.length === 2)
    expect([others, entry?.attempts[0]?.replayed?.ofRecord]).to.deep.equal([0, entry?.attempts[0]?.record])
    expect(entry?.record).not.to.equal(idOf(await to.at(entry?.origin as RecordPosition)))
    const deadLetters = await Promise.all(entry?.attempts.map((attempt) => to.at(attempt.deadLetterPosition)) ?? [])
    const ids = deadLetters.map((record) => headerOf(record as LogRecord, deadLetterHeaders.id))
    expect(ids).to.deep.equal([entry?.id, entry?.id])
  })

  it('writes each record once if runs are interrupted before or after a write', async () => {
    const { to: whole } = await copy()
    const to = new MemoryLog()
    const append = to.append.bind(to)
    let runs = 0
    to.append = async (topic, partition, records) => {
      if (runs % 2 === 0) await append(topic, partition, records.slice(0, 1))
      throw new Error('interrupted')
    }
    for (let isDone = false; !isDone && runs < 100; runs += 1) {
      isDone = await copy(to).then(
        () => true,
        () => false,
      )
    }
    expect(runs).to.equal(2 * old.records.length)
    expect(to.records).to.deep.equal(whole.records)
    const again = await copy(to)
    expect(again.counts.map(({ written, before }) => [written, before])).to.deep.equal([
      [0, 12],
      [0, 11],
    ])
    expect(to.records).to.deep.equal(whole.records)
  })

  it('continues after events that reached the old log later', async () => {
    const { to } = await copy()
    old.records.push({ ...(oldEvents.at(-1) as LogRecord), offset: 20n, key: Buffer.from('late') })
    const { counts } = await copy(to).finally(() => old.records.pop())
    expect(counts[0]).to.include({ written: 1, before: 12 })
    expect(eventsOf(to).at(-1)?.key?.toString()).to.equal('late')
  })

  it('writes batches below the smallest limit of Kafka, except for a larger record', async () => {
    const [from, to] = [new MemoryLog(), new MemoryLog()]
    const sizes = [60, 60, 60, 200, 1].map((kilobytes) => kilobytes * 1024)
    const records = sizes.map((size) => ({
      key: undefined,
      value: Buffer.alloc(size),
      headers: [],
      timestamp: 1,
      changes: [],
    }))
    await from.append(topic, partition, records)
    const batches: number[][] = []
    const append = to.append.bind(to)
    to.append = async (topic, partition, records) => {
      batches.push(records.map(({ value }) => value.length / 1024))
      await append(topic, partition, records)
    }
    const translate = async (record: LogRecord) => ({ ...record, changes: [] })
    await copyTopic(topic, { from, to, translate, onProgress: () => {} })
    expect(batches).to.deep.equal([[60, 60], [60], [200], [1]])
  })

  it('refuses a new log with other records, and a new log that changes times', async () => {
    const other = new MemoryLog()
    const record = { key: undefined, value: Buffer.from('{}'), headers: [], timestamp: 1, changes: [] }
    await other.append(topic, partition, [record])
    expect(await failureOf(other)).to.equal(
      'the new log has other records: the record at orderevents/2/0 differs from the old log',
    )
    const { to: longer } = await copy()
    await longer.append(topic, partition, [record])
    expect(await failureOf(longer)).to.equal(
      'the new log has other records: orderevents/2 has 13 records, and the old log has 12',
    )
    const changes: Partial<LogRecord>[] = [{ key: Buffer.from('x') }, { value: Buffer.from('{}') }, { headers: [] }]
    for (const change of changes) {
      const { to: changed } = await copy()
      changed.records.splice(11, 1, { ...(changed.records[11] as LogRecord), ...change })
      expect(await failureOf(changed)).to.match(/orderevents\/2\/11 differs/)
    }
    const stamping = new MemoryLog()
    const append = stamping.append.bind(stamping)
    stamping.append = (topic, partition, records) =>
      append(
        topic,
        partition,
        records.map((one) => ({ ...one, timestamp: 1 })),
      )
    expect(await failureOf(stamping)).to.match(/orderevents\/2\/0 differs/)
  })

  it('refuses a topic with another number of partitions', async () => {
    const to = new MemoryLog()
    to.spans = async () => [{ partition: 0, start: 0n, end: 0n }]
    expect(await failureOf(to)).to.equal('orderevents has 3 partitions in the old log and 1 in the new log')
  })
})

const failureOf = (to: MemoryLog) =>
  copy(to).then(
    () => 'none',
    ({ message }: Error) => message,
  )

describe('signerOf', () => {
  const service = { id: '6f1d2c1e-6b5a-4d0e-9c57-0d9a3c1b5e01', name: 'order-service' }
  const outside = { id: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b', name: 'legacy' }
  const since = 1_000
  const keys = (...signingKeys: string[]) => ({ signingKeys, signedSince: since })

  /** Returns the name of the key with which an event is signed in the new log; undefined if its headers stay unchanged. */
  function keyFor(
    from: string[],
    to: string[],
    signature: string | undefined,
    { app = service, appendedAt = since } = {},
  ) {
    const value = Buffer.from('{}')
    const text = signature === undefined ? undefined : createSigner([signature]).sign(value)
    const headers: LogRecord['headers'] = text === undefined ? [] : [[Buffer.from(signatureHeader), Buffer.from(text)]]
    const record = { ...(oldEvents[0] as LogRecord), value, headers, appendedAt }
    const signed = signerOf(keys(...from), keys(...to), repository)?.({ AppId: app.id } as never, record, value)
    return to.find((key) => signed !== undefined && createSigner([key]).isBy(value, signed))
  }

  it('signs events that version 0.1.0 accepted', () => {
    expect(keyFor(['old'], ['new'], 'old')).to.equal('new')
    expect(keyFor(['newer', 'old'], ['new'], 'old')).to.equal('new')
    expect(keyFor([], ['new'], undefined)).to.equal('new')
    expect(keyFor(['old'], ['new'], undefined, { appendedAt: since - 1 })).to.equal('new')
  })

  it('keeps the headers of events that version 0.1.0 rejected, of outside events, and of events with a valid signature', () => {
    expect(keyFor(['old'], ['new'], 'stolen')).to.equal(undefined)
    expect(keyFor(['old'], ['new'], undefined)).to.equal(undefined)
    expect(keyFor([], ['new'], undefined, { app: outside })).to.equal(undefined)
    expect(keyFor(['old'], ['new', 'old'], 'old')).to.equal(undefined)
    expect(keyFor(['old'], [], 'old')).to.equal(undefined)
  })
})

describe('Offsets', () => {
  it('counts the records before an offset, also at offsets without a record', () => {
    const offsets = new Offsets()
    for (const offset of [7n, 8n, 10n]) offsets.add({ topic, partition, offset })
    const before = [0n, 7n, 8n, 9n, 10n, 11n, 20n].map((offset) => offsets.before({ topic, partition, offset }))
    expect(before).to.deep.equal([0n, 0n, 1n, 2n, 2n, 3n, 3n])
    expect(offsets.before({ topic, partition: 1, offset: 5n })).to.equal(0n)
  })

  it('returns the new position of a record, and the old position of a deleted record', () => {
    const offsets = new Offsets()
    for (const offset of [7n, 10n]) offsets.add({ topic, partition, offset })
    expect(['7', '10', '3', '9'].map((offset) => offsets.text({ topic, partition, offset }))).to.deep.equal([
      ...['orderevents/2/0', 'orderevents/2/1', 'orderevents/2/3', 'orderevents/2/9'],
    ])
    expect(positionText(offsets.moved({ topic, partition, offset: '10' }))).to.equal('orderevents/2/1')
  })
})
