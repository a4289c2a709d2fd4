import type { Completeness, EventRow, RecordPosition, Validity } from '../../../src/api/index.ts'

/** Returns a GUID that contains two numbers. */
export const guid = (part: number, number: number) =>
  `${part.toString(16).padStart(8, '0')}-0000-4000-8000-${number.toString(16).padStart(12, '0')}`

export const start = Date.parse('2026-11-23T10:00:00.000Z')
export const isoAt = (ms: number) => new Date(start + ms).toISOString()

export function completenessOf(some: Partial<Completeness> = {}): Completeness {
  return {
    indexLag: 0,
    newest: isoAt(0),
    oldestKept: isoAt(-86_400_000),
    kept: 48_210,
    gaps: [],
    unreadable: [],
    isConnected: true,
    ...some,
  }
}

const kinds: { name: string; topic: string; app: string; validity: Validity; pointer?: string; message?: string }[] = [
  { name: 'OrderCreated', topic: 'orderevents', app: 'order-service', validity: 'valid' },
  { name: 'PaymentApproved', topic: 'paymentevents', app: 'payment-service', validity: 'valid' },
  { name: 'OrderCreated', topic: 'orderevents', app: 'legacy-shop', validity: 'valid' },
  { name: 'StockCounted', topic: 'orderevents', app: 'warehouse of the north', validity: 'foreign' },
  {
    name: 'OrderCreated',
    topic: 'orderevents',
    app: 'shop',
    validity: 'invalid-payload',
    pointer: '/Payload/Total',
    message: 'must be number',
  },
  { name: 'PaymentRejected', topic: 'paymentevents', app: 'payment-service', validity: 'valid' },
  {
    name: 'OrderCreated',
    topic: 'orderevents.dead',
    app: 'payment-service',
    validity: 'dead-letter',
    message: 'invalid-payload',
  },
  {
    name: 'OrderCancelled',
    topic: 'orderevents',
    app: 'intruder',
    validity: 'untrusted',
    message: 'is not listed in trust.json',
  },
]

/** Returns the row of a note: an event was replayed. Its ids derive from its position. */
export const noteRow = (number: number): EventRow =>
  rowOf(number, {
    ...{ name: null, version: null, appId: null, appName: null, variant: null, problem: null },
    validity: 'replay-note',
    of: rowOf(4).position,
  })

/** Returns the same row whenever it is called with the same number. */
export function rowOf(number: number, some: Partial<EventRow> = {}): EventRow {
  const kind = kinds[number % kinds.length] ?? kinds[0]
  if (!kind) throw new Error('no kinds')
  const position: RecordPosition = { topic: kind.topic, partition: number % 3, offset: String(1000 + number) }
  return {
    position,
    at: isoAt(number * 100),
    createdAt: isoAt(number * 100 - 12),
    name: kind.name,
    version: 1,
    id: guid(1, number),
    correlationId: guid(2, Math.floor(number / 3)),
    traceId: guid(2, Math.floor(number / 3)),
    causationId: null,
    appId: guid(3, number % kinds.length),
    appName: kind.app,
    variant: 'full',
    validity: kind.validity,
    problem: kind.message ? { pointer: kind.pointer ?? '', message: kind.message } : null,
    bytes: 412,
    of:
      kind.validity === 'dead-letter' ? { topic: 'orderevents', partition: number % 3, offset: String(number) } : null,
    ...some,
  }
}
