// All names of the system that a later version may change. The tests use only these names, so a renaming changes only this file.

const port = (usual: number) => usual + Number(process.env.PORT_OFFSET || 0)
const address = (variable: string, usual: number) => process.env[variable] || `http://localhost:${port(usual)}`

export const partitions = [0, 1, 2]
export const topics = { orders: 'orderevents', payments: 'paymentevents' }

export const ordersPath = '/v1/orders'
export const urls = {
  orders: `${address('ORDERS_URL', 5000)}${ordersPath}`,
  payments: `${address('PAYMENTS_URL', 5003)}/v1/payments`,
  publishing: `${address('GATEWAY_URL', 5020)}/v1/events/${topics.orders}`,
  events: `${address('MONITOR_URL', 5010)}/v1/events`,
  deadLetters: `${address('MONITOR_URL', 5010)}/v1/dead-letters/entries`,
}
export const brokers = [process.env.KAFKA_BROKERS || `localhost:${port(9092)}`]
/** Kafka is not a part of a stack in Kubernetes. So its namespace and pod must be given, such as `kafka/kafka-0`. */
export const kafkaPod = process.env.KAFKA_POD?.split('/')
export const namespace = process.env.NAMESPACE || 'orderflow'

export const parts = {
  orders: 'order-service',
  payments: 'payment-service',
  ordersSidecar: 'order-sidecar',
  kafka: 'kafka',
} as const
export type Part = (typeof parts)[keyof typeof parts]

const orderflow = (...args: string[]) => ['./orderflow', ...args]

export const commands = {
  up: orderflow('up'),
  status: orderflow('status'),
  publishers: orderflow('publisher'),
  publisher: (name: string) => orderflow('publisher', name),
  newPassword: (name: string) => orderflow('publisher', name, '--rotate'),
  removePublisher: (name: string) => orderflow('publisher', name, '--remove'),
  restart: (service: string) => orderflow('restart', service),
  rebuild: (service: string) => orderflow('rebuild', service),
  deadLetters: orderflow('dead-letters'),
  listDeadLetters: (group: string) => orderflow('dead-letters', 'list', group),
  showDeadLetter: (id: string) => orderflow('dead-letters', 'show', id),
  replay: (id: string, file: string) => orderflow('dead-letters', 'replay', id, '--file', file),
  apiKey: (name: string, scopes: string) => orderflow('api-key', 'create', name, '--scopes', scopes),
  revokeApiKey: (prefix: string) => orderflow('api-key', 'revoke', prefix),
  rehearsal: ['-C', 'tools', 'release-rehearsal'],
  export: (service: string) => orderflow('export', service),
  release: (service: string, app: string) => orderflow('release', service, '--app', app),
  rollback: (service: string, app: string) => orderflow('rollback', service, '--app', app),
  address: (service: string, app: string) => orderflow('open', service, '--app', app),
}

export const printed = {
  /** `columns` are the columns of `make status` after the name. */
  isRunning: (columns: string[]) => /^running(, healthy)?$/.test(columns[0] ?? ''),
  /** The name of a pod begins with the name of its part. */
  isPodOf: (part: string, name: string) => new RegExp(`^${part}-[a-z0-9]+-[a-z0-9]+$`).test(name),
  isPodRunning: (columns: string[]) => columns[1] === 'running',
  pid: (columns: string[]) => Number(columns[1]),
  processes: /^PROCESS /m,
  containers: /^CONTAINER /m,
  pods: /^POD /m,
  deadLetterGroup: (reason: string, service: string) => `${reason}/${service}`,
  /** A list shows the first eight digits of each dead letter's id. */
  deadLetterIds: (output: string) => output.match(/^[\da-f]{8}\b/gm) ?? [],
  replayedAs: /replayed as (\S+)\/(\d+)\/(\d+)/,
  rebuilt: /^(\S+): (\d+) read: (\d+) applied, (\d+) already applied, (\d+) not needed$/gm,
  /** Matches the numbers of a topic's skipped events by reason, such as `invalid-payload 1, not-json 2`. */
  rebuiltSkipped: (topic: string) =>
    new RegExp(`^${topic}: (?:skipped because of their dead letters|invalid, but not dead letters): (.+)$`, 'gm'),
}

export const idempotencyKey = 'Idempotency-Key'
export const statuses = { paid: 'Paid', refunded: 'Refunded', rejected: 'PaymentRejected' } as const
export const paymentStatuses = { approved: 'Approved', rejected: 'Rejected' } as const
export const paymentEvents = ['PaymentApproved', 'PaymentRejected']
export const reasons = { invalidPayload: 'invalid-payload', conflictingOrder: 'conflicting-order' }
/** payment-service rejects the payment of an order with a larger total. */
export const approvedUpTo = 10_000

type Json = Record<string, unknown>

export interface Order {
  id: string
  status: string
  total: number
  correlationId: string
  createdAt: string
}
export const newOrder = (total: unknown) => ({ customerName: 'Ada Lovelace', customerTaxId: 'GB-1', total })
export const readOrder = ({ id, status, total, correlationId, createdAt }: Json) =>
  ({ id, status, total, correlationId, createdAt }) as Order

export interface Payment {
  orderId: string
  amount: number
  status: string
}
export const readPayment = ({ orderId, amount, status }: Json) => ({ orderId, amount, status }) as Payment
export const paymentsOfOrder = (orderId: string) => `${urls.payments}?orderId=${orderId}`

export const readPage = ({ items, next }: Json) => ({ items: items as Json[], next: next as string | null })
export const pageUrl = (url: string, limit: number, cursor?: string) =>
  `${url}${url.includes('?') ? '&' : '?'}limit=${limit}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`

export const problemType = 'application/problem+json'
export const readProblem = ({ title, status, errors = [] }: Json) => ({
  title: title as string,
  status: status as number,
  faults: Object.fromEntries((errors as Json[]).map(({ pointer, detail }) => [pointer, detail])) as Record<
    string,
    string
  >,
})

export const readOutcomes = ({ items }: Json) => (items as Json[]).map(({ outcome }) => outcome as string)
export const accepted = 'accepted'

export interface Position {
  topic: string
  partition: number
  offset: string
}
export interface StoredEvent {
  position: Position
  id: string
  name: string
  correlationId: string
  traceId: string
}
export const eventsAbout = (id: string) => `${urls.events}?guid=${id}`
export const eventAt = ({ topic, partition, offset }: Position) => `${urls.events}/${topic}/${partition}/${offset}`
export const readEvent = ({ position, id, name, correlationId, traceId }: Json) =>
  ({ position, id, name, correlationId, traceId }) as StoredEvent

export interface DeadLetter {
  id: string
  service: string
  reason: string
  state: string
}
export const deadLetterStates = { open: 'open', replayed: 'replayed' }
/** The monitor lists a record once, with the dead letter of each service that rejected it. */
export const readDeadLetters = ({ services, state }: Json): DeadLetter[] =>
  (services as Json[]).map(({ id, app, reason }) => ({ id, service: app, reason, state }) as DeadLetter)
export const deadLettersOf = ({ entries }: Json) => (entries as Json[]).flatMap(readDeadLetters)

const publisher = { AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b', AppName: 'acceptance' }

export const reducedEnvelope = (orderId: string, total: unknown = 10) => ({
  ...publisher,
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: new Date().toISOString(),
  Payload: { OrderId: orderId, CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: total },
})

export interface EnvelopeIds {
  id: string
  correlationId: string
  traceId: string
}
export const fullEnvelope = (orderId: string, { id, correlationId, traceId }: EnvelopeIds, total = 10) => ({
  ...reducedEnvelope(orderId, total),
  Id: id,
  CorrelationId: correlationId,
  TraceId: traceId,
})
export const withVersion = (envelope: object, version: number) => ({ ...envelope, Version: version })
/** Returns the text of an envelope with an additional field whose JSON is `extra`. */
export const withExtraField = (envelope: object, extra: string) =>
  `${JSON.stringify(envelope).slice(0, -1)},"x":${extra}}`

export const readiness = '/readyz'

export const releasedApps = { order: 'my-order', payment: 'my-payment' }
/** A setting that shows which release of payment-service runs. The service rejects the payment of an order with a larger total. */
export const releasedLimit = 'Policy__ApproveUpTo'
export const rehearsal = {
  isReady: /The rehearsal is ready/,
  folder: '.release/rehearsal',
  settings: '.release/rehearsal/env',
  login: 'printenv ACCESS_TOKEN | docker login --username=_ --password-stdin "$PLATFORM_REGISTRY"',
  /** The services of a release reject callers without a key. */
  keys: {
    variable: 'Auth__ApiKeys',
    file: '.stack/auth/api-keys.json',
    scopes: 'orders:read orders:write payments:read',
  },
}
export const printedKey = { key: /^(ofk_\S+)$/m, prefix: /api-key revoke (\w+)/ }
export const authorization = (key: string) => ({ Authorization: `Bearer ${key}` })
