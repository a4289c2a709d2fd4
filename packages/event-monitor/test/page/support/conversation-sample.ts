import type { Conversation, Step } from '../../../src/api/index.ts'
import { completenessOf, guid, isoAt, rowOf } from './sample.ts'

const columns: Conversation['columns'] = [
  { id: 'client', kind: 'client', title: 'client' },
  { id: 'app:legacy-shop', kind: 'foreign', title: 'legacy-shop' },
  { id: 'service:order-service', kind: 'service', title: 'order-service' },
  { id: 'topic:orderevents', kind: 'topic', title: 'orderevents' },
  { id: 'dead:orderevents', kind: 'dead', title: 'orderevents.dead' },
  { id: 'service:payment-service', kind: 'service', title: 'payment-service' },
  { id: 'topic:paymentevents', kind: 'topic', title: 'paymentevents' },
]

const step = (some: Partial<Step> & Pick<Step, 'from' | 'to' | 'row'>): Step => ({
  kind: 'event',
  cause: null,
  depth: 0,
  isEdited: false,
  duplicateOf: null,
  skew: null,
  missingCause: null,
  consumers: [],
  ...some,
})
const at = (
  ms: number,
  name: string,
  topic: string,
  offset: number,
  validity: 'valid' | 'dead-letter' | 'invalid-payload' = 'valid',
) =>
  rowOf(0, {
    at: isoAt(ms),
    name,
    validity,
    position: { topic, partition: 1, offset: String(offset) },
    id: guid(1, offset),
  })

/** Returns the conversation of an invalid order that was edited, paid, and cancelled a day later. */
export function conversation(): Conversation {
  const orders = 'topic:orderevents'
  const rejected = [
    { column: 'service:order-service', handled: true, reaction: [] },
    { column: 'service:payment-service', handled: true, isRejected: true as const, reaction: [] },
  ]
  const toBoth = (handled: boolean | null, ...reaction: number[]) => [
    { column: 'service:order-service', handled: true, reaction: [] },
    { column: 'service:payment-service', handled, reaction },
  ]
  const wrong = rowOf(4, {
    at: isoAt(0),
    appName: 'legacy-shop',
    position: { topic: 'orderevents', partition: 1, offset: '1204' },
  })
  const deadLetter = {
    ...at(45, 'OrderCreated', 'orderevents.dead', 7, 'dead-letter'),
    problem: { pointer: '/Payload/Total', message: 'invalid-payload' },
  }
  const steps: Step[] = [
    step({ from: 'app:legacy-shop', to: orders, row: wrong, consumers: rejected, missingCause: guid(1, 999) }),
    step({ kind: 'dead-letter', from: orders, to: 'dead:orderevents', row: deadLetter, cause: 0, depth: 1 }),
    step({
      kind: 'replay',
      from: 'dead:orderevents',
      to: orders,
      row: at(240_000, 'OrderCreated', 'orderevents', 1300),
      cause: 1,
      depth: 2,
      isEdited: true,
      consumers: toBoth(true, 3),
    }),
    step({
      from: 'service:payment-service',
      to: 'topic:paymentevents',
      row: at(240_080, 'PaymentApproved', 'paymentevents', 88),
      cause: 2,
      depth: 3,
      consumers: [{ column: 'service:order-service', handled: true, reaction: [] }],
    }),
    step({
      from: 'service:payment-service',
      to: 'topic:paymentevents',
      row: at(240_190, 'PaymentApproved', 'paymentevents', 89),
      cause: 2,
      depth: 3,
      duplicateOf: 3,
      consumers: [{ column: 'service:order-service', handled: true, reaction: [] }],
    }),
    step({
      from: 'service:order-service',
      to: orders,
      row: at(86_640_000, 'OrderCancelled', 'orderevents', 1411),
      consumers: toBoth(false, 6),
    }),
    step({
      from: 'service:payment-service',
      to: 'topic:paymentevents',
      row: at(86_640_070, 'PaymentRefunded', 'paymentevents', 94),
      cause: 5,
      depth: 1,
      skew: { ms: 120, by: 'publisher' },
      consumers: [{ column: 'service:order-service', handled: null, reaction: [] }],
    }),
  ]
  return { correlationId: guid(2, 1), columns, steps, total: steps.length, complete: completenessOf() }
}

/** Returns the conversation of an order that a client requested and a service has handled. */
export function aroundConversation(): Conversation {
  const row = at(0, 'OrderCreated', 'orderevents', 7)
  const [own, topic, state] = ['service:order-service', 'topic:orderevents', 'state:order-service'] as const
  const steps = [
    step({ kind: 'request', from: 'client', to: own, row }),
    step({ from: own, to: topic, row, consumers: [{ column: own, handled: true, reaction: [] }] }),
    step({ kind: 'handled', from: own, to: state, row, cause: 1, depth: 1 }),
  ]
  const stored = [
    ...columns.slice(0, 3),
    { id: state, kind: 'state' as const, title: 'order-service' },
    ...columns.slice(3),
  ]
  return { correlationId: guid(2, 3), columns: stored, steps, total: 1, complete: completenessOf() }
}

/** Returns the conversation of an order whose reminder time and end have passed, the second by hand. */
export function timedConversation(): Conversation {
  const created = aroundConversation()
  const [own, topic] = ['service:order-service', 'topic:deadlines'] as const
  const [reminder, end] = [at(60_000, 'DeadlinePassed', 'deadlines', 8), at(61_000, 'DeadlinePassed', 'deadlines', 9)]
  const steps = [
    ...created.steps.slice(0, 2),
    step({ kind: 'time', from: 'time', to: own, row: reminder, deadline: 'Reminder' }),
    step({ from: own, to: topic, row: reminder }),
    step({ kind: 'request', from: 'client', to: own, row: end, deadline: 'PaymentDue' }),
    step({ from: own, to: topic, row: end }),
  ]
  const timed = [
    { id: 'client', kind: 'client' as const, title: 'client' },
    { id: 'time', kind: 'time' as const, title: 'time' },
    ...created.columns.slice(1),
    { id: topic, kind: 'topic' as const, title: 'deadlines' },
  ]
  return { ...created, columns: timed, steps, total: 3 }
}

export function longConversation(count: number): Conversation {
  const steps = Array.from({ length: count }, (_, index) => {
    const isPayment = index % 2 === 1
    const row = at(
      index * 20,
      isPayment ? 'PaymentApproved' : 'OrderCreated',
      isPayment ? 'paymentevents' : 'orderevents',
      index,
    )
    return isPayment
      ? step({
          from: 'service:payment-service',
          to: 'topic:paymentevents',
          row,
          cause: index - 1,
          depth: 1,
          consumers: [{ column: 'service:order-service', handled: true, reaction: [] }],
        })
      : step({
          from: 'service:order-service',
          to: 'topic:orderevents',
          row,
          consumers: [{ column: 'service:payment-service', handled: true, reaction: [index + 1] }],
        })
  })
  return { correlationId: guid(2, 2), columns, steps, total: count + 12, complete: completenessOf() }
}
