import { calls, deadlines, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { factNames } from '@orderflow/order-service/order'
import { service as orderService } from '@orderflow/order-service/service'
import { service as paymentService } from '@orderflow/payment-service/service'
import { type BaseSettings, type Reactions, readSettings } from '@orderflow/service-kit'
import { type Service, serviceNamed } from '@orderflow/stack'
import fc from 'fast-check'
import { type Role, World } from '../memory/world.ts'

export interface HostileRecord {
  topic: string
  orderId: string
  key: Buffer | undefined
  /** The value is null for a tombstone. */
  value: Buffer | null
  headers: [Buffer, Buffer][]
  isSigned: boolean
}

/** Our services, with the events that they publish. */
export const ours: (BaseSettings['App'] & Pick<Service, 'publishes'>)[] = [orderService, paymentService].map(
  (service) => {
    const { App } = readSettings<object>(service as { root: URL }, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
    return { ...App, publishes: serviceNamed(App.Name).publishes }
  },
)

/** The names of the events that services handle. order-service handles all of them. */
export type HandledName = (typeof factNames)[number]

/** Generates any UTF-16 text as JSON, including lone surrogates, control characters and changes of direction. */
const anyText = fc
  .array(fc.oneof(fc.nat(0xffff), fc.constantFrom(0x24, 0x2e, 0x22, 0x00, 0xd800, 0x202e, 0x2028)), { maxLength: 80 })
  .map((units) => JSON.stringify(String.fromCharCode(...units)))

const nested = fc
  .tuple(fc.integer({ min: 50, max: 30_000 }), fc.constantFrom(['[', ']'], ['{"a":', '}'], ['[{"":', '}]']))
  .map(([levels, [open = '', close = '']]) => `${open.repeat(levels)}0${close.repeat(levels)}`)

const oddValue = fc.oneof(
  fc.json(),
  anyText,
  nested,
  fc.constantFrom('1e400', '-1e400', '-0', '1e-400', '9007199254740993', '0.1e1', `1${'0'.repeat(400)}`, '1E+2'),
  fc.constantFrom('"OrderCreated"', '"OrderCancelled"', '"PaymentRefunded"', '"PaymentShipped"'),
  fc.constantFrom('null', 'true', '""', '[]', '{}', '{"__proto__":{"x":1}}', '{"constructor":1,"toString":2}'),
  fc.nat(120_000).map((length) => `"${'x'.repeat(length)}"`),
)

const envelopeFields = [
  'AppId',
  'AppName',
  'Version',
  'Name',
  'CreationDate',
  'Id',
  'CorrelationId',
  'TraceId',
  'Headers',
]
const otherFields = ['TenantID', 'Note', '__proto__', '', 'createdate', 'specversion']

export function regularPayload(name: HandledName, orderId: string): Record<string, string> {
  const result = { PaymentId: `"${orderId}"`, OrderId: `"${orderId}"`, Amount: '1' }
  const decision = { ...result, Policy: '"hostile@1"', Source: '"Manual"' }
  const payloads: Record<HandledName, Record<string, string>> = {
    OrderCreated: { OrderId: `"${orderId}"`, CustomerName: '"Mallory"', CustomerTaxId: '"T"', Total: '1' },
    OrderCancelled: { OrderId: `"${orderId}"` },
    OrderReminded: { OrderId: `"${orderId}"`, PayableUntil: '"2026-11-21T10:30:00Z"' },
    OrderExpired: { OrderId: `"${orderId}"`, Total: '1' },
    PaymentApproved: decision,
    PaymentRejected: { ...decision, Reason: '"none"' },
    PaymentRefunded: { ...result, Reason: '"none"' },
  }
  return payloads[name]
}

/** Generates an event with invalid fields, another order of fields, or duplicate fields. */
function oddEvent(name: HandledName, orderId: string, claimed: { Id: string; Name: string }): fc.Arbitrary<string> {
  const fields: Record<string, string> = {
    AppId: `"${claimed.Id}"`,
    AppName: `"${claimed.Name}"`,
    Version: '1',
    Name: `"${name}"`,
    CreationDate: '"2026-11-21T09:30:00+01:00"',
  }
  const payload = regularPayload(name, orderId)
  const payloadFields = Object.keys(payload)
  const oddFields = fc.array(
    fc.tuple(fc.constantFrom(...envelopeFields, ...payloadFields, ...otherFields, ...payloadFields), oddValue),
    { maxLength: 3 },
  )
  return fc.tuple(oddFields, fc.boolean(), fc.constantFrom('', ' \n\t', '\ufeff')).map(([odd, twice, blank]) => {
    const own = (names: string[]) => odd.filter(([name]) => names.includes(name))
    const text = (regular: Record<string, string>, changes: [string, string][]) => {
      const replaced = new Set(twice ? [] : changes.map(([name]) => name))
      const kept = Object.entries(regular).filter(([name]) => !replaced.has(name))
      return [...kept, ...changes].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')
    }
    const inner = `{${text(payload, own(payloadFields))}}`
    return `${blank}{${text({ ...fields, Payload: inner }, own([...envelopeFields, ...otherFields]))}}`
  })
}

function hostileValue(
  name: HandledName,
  orderId: string,
  claimed: { Id: string; Name: string },
): fc.Arbitrary<Buffer | null> {
  const text = oddEvent(name, orderId, claimed)
  const damaged = fc
    .tuple(text, fc.nat(), fc.nat(5), fc.uint8Array({ maxLength: 4 }))
    .map(([whole, at, removed, noise]) => {
      const bytes = Buffer.from(whole)
      const cut = at % (bytes.length + 1)
      return Buffer.concat([bytes.subarray(0, cut), noise, bytes.subarray(cut + removed)])
    })
  return fc.oneof(
    { weight: 6, arbitrary: text.map((whole) => Buffer.from(whole)) },
    { weight: 3, arbitrary: damaged },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: text.map((whole) => Buffer.from(whole, 'utf16le')) },
    { weight: 1, arbitrary: fc.constant(null) },
  )
}

const anyBytes = (maxLength: number) => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes))
const textBytes = (...texts: string[]) => fc.constantFrom(...texts).map((text) => Buffer.from(text))

/** Header names with a meaning for Kafka clients, Dapr, gRPC, HTTP or our services. */
const headerName = fc.oneof(
  textBytes(
    'traceparent',
    'tracestate',
    'signature',
    'replayed-from',
    'deadletter-id',
    'deadletter-app',
    'deadletter-reason',
  ),
  textBytes('__offset', '__partition', '__key', '__topic', '__timestamp', 'partitionKey', 'rawPayload', 'ttlInSeconds'),
  textBytes(
    'content-type',
    'Content-Length',
    'host',
    'dapr-api-token',
    'grpc-timeout',
    ':path',
    'cloudevent.id',
    'entryId',
  ),
  textBytes('', ' ', '\n', '\0', '\r\nX: y', 'é', '\u202e', '__proto__', 'constructor', 'x'.repeat(4_000)),
  anyBytes(20),
)
const headerValue = fc.oneof(
  textBytes(
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    '00-zz',
    'orderevents/0/0',
    'orderevents/2/99999',
  ),
  textBytes('', '%', '%zz', '%ff', '\r\n', '\0', '-1', '9'.repeat(30), 'y'.repeat(8_000)),
  anyBytes(40),
)

/** Kafka rejects a batch above 256 KiB (packages/service-kit/src/stream/publishing/topic-settings.ts), so services never see such a record. */
const maxValueBytes = 250_000

const [replica] = new World().replicas
/** The names of the events about orders that each service handles, by topic. They come from its reactions, which are never called here. */
export const handled: Record<Role, Record<string, HandledName[]>> = {
  order: namesIn(replica.order.entity.reactions),
  payment: namesIn(replica.payment.entity.reactions),
}

function namesIn(reactions: Reactions): Record<string, HandledName[]> {
  const names = (handlers: object) => Object.keys(handlers).map((type) => type.split('@')[0] as HandledName)
  const { [deadlines]: _, [calls]: __, ...others } = reactions
  return Object.fromEntries(Object.entries(others).map(([topic, handlers]) => [topic, names(handlers)]))
}

type TopicAndName = [topic: string, name: HandledName]
const regular = Object.values(handled)
  .flatMap((topics) => Object.entries(topics))
  .flatMap(([topic, names]) => names.map((name): TopicAndName => [topic, name]))

/** Generates a topic and an event name, mostly a name that belongs to the topic. Prefers OrderCreated, on which most code depends. */
const topicAndName = fc.oneof<fc.WeightedArbitrary<TopicAndName>[]>(
  { weight: 4, arbitrary: fc.constant([orderEvents, 'OrderCreated']) },
  { weight: 4, arbitrary: fc.constantFrom(...regular) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom(orderEvents, paymentEvents),
      fc.constantFrom(...regular.map(([, name]) => name)),
    ),
  },
)

/** Generates the claimed publisher, mostly one that receivers accept: any outside publisher on orderevents, otherwise the topic’s owner. */
const claimedOn = (topic: string, orderId: string) => {
  const stranger = { Id: orderId, Name: 'hostile' }
  const owners = ours.filter(({ publishes }) => topic in publishes)
  return fc.oneof<fc.WeightedArbitrary<{ Id: string; Name: string }>[]>(
    { weight: topic === orderEvents ? 6 : 1, arbitrary: fc.constant(stranger) },
    { weight: topic === orderEvents ? 1 : 6, arbitrary: fc.constantFrom(...owners) },
    { weight: 1, arbitrary: fc.constantFrom(...ours, ...ours.map(({ Id }) => ({ ...stranger, Id }))) },
    { weight: 1, arbitrary: fc.constantFrom(...ours.map(({ Name }) => ({ ...stranger, Name }))) },
  )
}

const hostileRecord = fc
  .tuple(topicAndName, fc.uuid())
  .chain(([[topic, name], orderId]) => fc.tuple(fc.constant({ topic, name, orderId }), claimedOn(topic, orderId)))
  .chain(([{ topic, name, orderId }, claimed]) =>
    fc.record<HostileRecord>({
      topic: fc.constant(topic),
      orderId: fc.constant(orderId),
      key: fc.option(
        fc.oneof(fc.constant(Buffer.from(orderId)), anyBytes(30), textBytes('', 'k'.repeat(2_000), '%2', 'a||b')),
        {
          nil: undefined,
        },
      ),
      value: hostileValue(name, orderId, claimed).filter((value) => (value?.length ?? 0) <= maxValueBytes),
      headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 5 }),
      isSigned: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    }),
  )

export const hostileRecords = (minLength: number, maxLength = minLength): fc.Arbitrary<HostileRecord[]> =>
  fc.uniqueArray(hostileRecord, { minLength, maxLength, selector: ({ orderId }) => orderId })
