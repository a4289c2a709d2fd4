import type { Conversation, Step } from '../../../src/api/index.ts'
import { guid, isoAt, rowOf, truthOf } from './sample.ts'

const lanes: Conversation['lanes'] = [
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
    place: { topic, partition: 1, offset: String(offset) },
    id: guid(1, offset),
  })

/** An order that came wrong, was mended, paid, and cancelled the day after. */
export function conversation(): Conversation {
  const orders = 'topic:orderevents'
  const setAside = [
    { lane: 'service:order-service', handled: true, reaction: [] },
    { lane: 'service:payment-service', handled: true, isSetAside: true as const, reaction: [] },
  ]
  const toBoth = (handled: boolean | null, ...reaction: number[]) => [
    { lane: 'service:order-service', handled: true, reaction: [] },
    { lane: 'service:payment-service', handled, reaction },
  ]
  const wrong = rowOf(4, {
    at: isoAt(0),
    appName: 'legacy-shop',
    place: { topic: 'orderevents', partition: 1, offset: '1204' },
  })
  const letter = {
    ...at(45, 'OrderCreated', 'orderevents.dead', 7, 'dead-letter'),
    problem: { pointer: '/Payload/Total', message: 'invalid-payload' },
  }
  const steps: Step[] = [
    step({ from: 'app:legacy-shop', to: orders, row: wrong, consumers: setAside, missingCause: guid(1, 999) }),
    step({ kind: 'dead-letter', from: orders, to: 'dead:orderevents', row: letter, cause: 0, depth: 1 }),
    step({
      kind: 'resend',
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
      consumers: [{ lane: 'service:order-service', handled: true, reaction: [] }],
    }),
    step({
      from: 'service:payment-service',
      to: 'topic:paymentevents',
      row: at(240_190, 'PaymentApproved', 'paymentevents', 89),
      cause: 2,
      depth: 3,
      duplicateOf: 3,
      consumers: [{ lane: 'service:order-service', handled: true, reaction: [] }],
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
      consumers: [{ lane: 'service:order-service', handled: null, reaction: [] }],
    }),
  ]
  return { correlationId: guid(2, 1), lanes, steps, total: steps.length, complete: truthOf() }
}

/** An order that a client asked for, and that a service is done with. */
export function aroundConversation(): Conversation {
  const row = at(0, 'OrderCreated', 'orderevents', 7)
  const [own, topic, state] = ['service:order-service', 'topic:orderevents', 'state:order-service'] as const
  const steps = [
    step({ kind: 'request', from: 'client', to: own, row }),
    step({ from: own, to: topic, row, consumers: [{ lane: own, handled: true, reaction: [] }] }),
    step({ kind: 'handled', from: own, to: state, row, cause: 1, depth: 1 }),
  ]
  const stored = [
    ...lanes.slice(0, 3),
    { id: state, kind: 'state' as const, title: 'order-service' },
    ...lanes.slice(3),
  ]
  return { correlationId: guid(2, 3), lanes: stored, steps, total: 1, complete: truthOf() }
}

/** Orders and their payments, one after the other. */
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
          consumers: [{ lane: 'service:order-service', handled: true, reaction: [] }],
        })
      : step({
          from: 'service:order-service',
          to: 'topic:orderevents',
          row,
          consumers: [{ lane: 'service:payment-service', handled: true, reaction: [index + 1] }],
        })
  })
  return { correlationId: guid(2, 2), lanes, steps, total: count + 12, complete: truthOf() }
}
