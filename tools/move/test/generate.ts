// Writes the fixture records.json with the code of version 0.1.0. Run it in a checkout of v0.1.0, because it loads modules of its working directory:
//
//   git worktree add /tmp/v010 v0.1.0 && cd /tmp/v010
//   stack/node OTHER_CHECKOUT/tools/move/test/generate.ts > OTHER_CHECKOUT/tools/move/test/records.json
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'

const load = (path: string) => import(join(process.cwd(), path))
const { completeEnvelope, createEnvelope, parseEnvelope } = await load('envelope-schema/src/index.ts')
const { readDelivery } = await load('service-kit/src/stream/delivery.ts')
const { deadLetterOf, minimalDeadLetter } = await load('service-kit/src/stream/dead-letter.ts')
const { recordOf } = await load('service-kit/src/stream/publisher.ts')
const { faultOf } = await load('service-kit/src/stream/fault.ts')
const { originOf } = await load('service-kit/src/stream/delivery.ts')
const { checkPayload } = await load('envelope-schema/src/index.ts')
const { createSigner } = await load('service-kit/src/trust/signature.ts')
const { createTrust } = await load('service-kit/src/trust/trust.ts')
const { readDeadLetters } = await load('service-kit/src/operations/dead-letters/entries.ts')
const { resendEntries } = await load('service-kit/src/operations/dead-letters/resend.ts')
const { publishMended } = await load('service-kit/src/operations/dead-letters/publish.ts')
const { headerOf, placeOf } = await load('service-kit/src/operations/log-record.ts')

interface StoredRecord {
  topic: string
  partition: number
  offset: bigint
  timestamp: number
  key: Buffer | undefined
  value: Buffer
  headers: [Buffer, Buffer][]
}

const topic = 'orderevents'
const signingKey = 'a-key-of-the-old-application'
const service = { id: '6f1d2c1e-6b5a-4d0e-9c57-0d9a3c1b5e01', name: 'order-service' }
const trust = createTrust({
  publishers: {
    outside: [topic],
    services: { [service.id]: { name: service.name, publishes: { [topic]: ['OrderCreated'] } } },
  },
  file: { unlisted: 'taken-in', publishers: {} },
  signer: createSigner([signingKey]),
  signedSince: Number.NEGATIVE_INFINITY,
})

const records: StoredRecord[] = []
/** The next offset of each partition. The log has deleted the records before offset 7 of the topic of events. */
const ends = new Map([
  [`${topic}/2`, 7n],
  [`${topic}.dead/0`, 0n],
])
let clock = Date.parse('2026-11-21T10:00:00Z')

function append(record: Partial<StoredRecord> & { topic: string; partition?: number }): StoredRecord {
  const partition = record.partition ?? (record.topic === topic ? 2 : 0)
  const offset = ends.get(`${record.topic}/${partition}`) ?? 0n
  ends.set(`${record.topic}/${partition}`, offset + 1n)
  clock += 1_000
  const stored = { key: undefined, value: Buffer.alloc(0), headers: [], timestamp: clock, ...record, partition, offset }
  records.push(stored)
  return stored
}

const log = {
  topics: async () => [topic, `${topic}.dead`],
  has: async () => true,
  spans: async () => [{ partition: 0, start: 0n, end: 1n }],
  async *read(name: string) {
    yield records.filter((record) => record.topic === name)
  },
  at: async (place: { topic: string; partition: number; offset: string }) =>
    records.find(
      (record) =>
        record.topic === place.topic && record.partition === place.partition && String(record.offset) === place.offset,
    ),
}

const escaped = (bytes: Buffer) =>
  [...bytes]
    .map((byte) =>
      /\w/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, '0')}`,
    )
    .join('')

/** Delivers a record to a service, as Dapr does. Writes the dead letter of an event that the service rejects. */
function deliver(record: StoredRecord, app: string, make = deadLetterOf): void {
  const metadata = {
    __partition: String(record.partition),
    __offset: String(record.offset),
    __timestamp: String(record.timestamp),
    ...(record.key && { __key: escaped(record.key) }),
    ...Object.fromEntries(record.headers.map(([name, text]) => [name.toString(), escaped(text)])),
  }
  const delivery = readDelivery({ entryId: '1', event: record.value.toString('base64'), metadata }, record.topic)
  try {
    checkPayload(parseEnvelope(delivery.value))
  } catch (error) {
    const letter = make(delivery, faultOf(error, new Set()), app, new Date(clock))
    append({
      topic: letter.topic,
      key: letter.key === undefined ? undefined : Buffer.from(letter.key),
      value: Buffer.from(letter.value),
      headers: Object.entries<string>(letter.headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
    })
  }
}

const producer = {
  async send({
    messages,
  }: {
    messages: { topic: string; key?: Buffer; value: Buffer; headers: Map<Buffer, Buffer> }[]
  }) {
    const stored = messages.map(({ headers, ...record }) => append({ ...record, headers: [...headers] }))
    return { offsets: stored.map(({ topic, partition, offset }) => ({ topic, partition, offset })) }
  },
}

/** Replays the newest failure of a record with the commands of version 0.1.0. */
async function resend(record: StoredRecord, edited?: Buffer): Promise<StoredRecord> {
  const { entries } = await readDeadLetters(log)
  const entry = entries.find(({ origin }: { origin: { offset: string } }) => origin.offset === String(record.offset))
  const options = { trust: edited ? trust : { ...trust, requireTrusted: () => {} }, edited }
  const publish = (edited: object) => publishMended(producer, edited)
  for await (const { result, why } of resendEntries(log, publish, [entry], options)) {
    if (result !== 'resent') throw new Error(why)
  }
  return records.findLast(({ topic: own }) => own === topic) as StoredRecord
}

const reduced = (total: unknown, more: object = {}) => ({
  ...more,
  AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b',
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-11-21T09:00:00Z',
  Payload: { OrderId: randomUUID(), CustomerName: 'Ada Lovelace', CustomerTaxId: 'T-1', Total: total },
})
const bytes = (document: unknown, space?: number) => Buffer.from(JSON.stringify(document, null, space))
const ids = { Id: randomUUID(), CorrelationId: randomUUID(), TraceId: randomUUID() }
const traceparent: [Buffer, Buffer] = [
  Buffer.from('traceparent'),
  Buffer.from('00-740027c2df205180993b4b7b6798da84-00f067aa0ba902b7-01'),
]

// The log has deleted the record of this dead letter.
const deleted = {
  topic,
  partition: 2,
  offset: 3n,
  timestamp: clock,
  key: undefined,
  value: bytes(reduced('1')),
  headers: [],
}
deliver(deleted as StoredRecord, 'payment-service')

append({ topic, key: Buffer.from('full'), value: bytes(reduced(1, ids)) })
append({ topic, key: Buffer.from('without ids'), value: Buffer.concat([Buffer.from('\n\t'), bytes(reduced(2), 2)]) })
append({ topic, value: bytes(reduced(3, { CorrelationId: ids.CorrelationId.toUpperCase() })) })
const edited = append({ topic, key: Buffer.from('edited'), value: bytes(reduced('4')), headers: [traceparent] })
// The marker of a transaction has an offset, too.
ends.set(`${topic}/2`, (ends.get(`${topic}/2`) ?? 0n) + 1n)
const binary = append({ topic, key: Buffer.from([0xff, 0x00, 0x20]), value: bytes(reduced('5')) })
const broken = append({ topic, value: Buffer.from('{"Id":') })
const cut = append({ topic, key: Buffer.from('cut'), value: bytes(reduced('6')) })
const tombstone = append({ topic, key: Buffer.from('tombstone') })
for (const record of [edited, binary, broken, tombstone]) deliver(record, 'payment-service')
deliver(edited, 'order-service')
deliver(cut, 'payment-service', minimalDeadLetter)
await resend(edited, bytes({ ...JSON.parse(edited.value.toString()), ...{ Payload: reduced(4).Payload } }))

const own = createEnvelope({
  app: service,
  type: 'OrderCreated@1',
  creationDate: new Date(clock),
  payload: { OrderId: randomUUID(), CustomerName: 'Ada Lovelace', CustomerTaxId: 'T-1', Total: 7 },
})
const signed = recordOf(topic, own.Payload.OrderId, own, trust)
append({
  topic,
  key: Buffer.from(signed.key),
  value: signed.value,
  headers: Object.entries<string>(signed.headers).map(([name, text]) => [Buffer.from(name), Buffer.from(text)]),
})

// An event that a bug rejected is replayed unchanged, and is rejected again.
const bug = append({ topic, key: Buffer.from('bug'), value: bytes(reduced(8)) })
const fail = (record: StoredRecord) =>
  deliver(
    { ...record, value: Buffer.from('{}') },
    'order-service',
    (delivery: object, _: unknown, app: string, now: Date) =>
      deadLetterOf(
        { ...delivery, value: record.value },
        { code: 'handler-error', detail: 'TypeError: a bug' },
        app,
        now,
      ),
  )
fail(bug)
fail(await resend(bug))

/** The ids that services of version 0.1.0 derived, by position. */
const derived = Object.fromEntries(
  records.flatMap((record) => {
    try {
      const { topic, partition, offset } = originOf(placeOf(record), headerOf(record, 'replayed-from'))
      const { Id, CorrelationId, TraceId } = completeEnvelope(parseEnvelope(record.value), { topic, partition, offset })
      return record.topic.endsWith('.dead')
        ? []
        : [[`${record.topic}/${record.partition}/${record.offset}`, { Id, CorrelationId, TraceId }]]
    } catch {
      return []
    }
  }),
)

/** The failures that the command `dead-letters` of version 0.1.0 lists. */
const { entries } = await readDeadLetters(log)
const listed = entries.map(
  ({ app, origin, attempts }: { app: string; origin: { offset: string }; attempts: object[] }) => ({
    app,
    origin: origin.offset,
    attempts: attempts.map((attempt) => {
      const { reason, place, resent } = attempt as {
        reason: string
        place: { offset: string }
        resent?: { as: { offset: string }; edited: boolean }
      }
      return { reason, offset: place.offset, ...(resent && { replayedAs: resent.as.offset, edited: resent.edited }) }
    }),
  }),
)

const stored = records.map(({ offset, key, value, headers, ...record }) => ({
  ...record,
  offset: String(offset),
  key: key?.toString('base64'),
  value: value.toString('base64'),
  headers: headers.map(([name, text]) => [name.toString(), text.toString('base64')]),
}))
process.stdout.write(`${JSON.stringify({ signingKey, records: stored, ids: derived, entries: listed }, null, 2)}\n`)
