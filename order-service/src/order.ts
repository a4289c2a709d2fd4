import {
  type CamelCase,
  camelCase,
  type FullEvent,
  isSamePayload,
  type PayloadOf,
  pascalCase,
  payloadFields,
} from '@orderflow/envelope-schema'
import {
  amountFlaw,
  type Currency,
  type Entity,
  entity,
  type Facts,
  facts,
  keyReused,
  Refused,
  timeOf,
} from '@orderflow/service-kit'

/** The events that change an order, from several publishers. */
export const factNames = [
  'OrderCreated',
  'OrderCancelled',
  'OrderReminded',
  'OrderExpired',
  'PaymentApproved',
  'PaymentRejected',
  'PaymentRefunded',
] as const
export type OrderFacts = Facts<(typeof factNames)[number]>

export const orderStatuses = ['Created', 'Paid', 'PaymentRejected', 'Cancelled', 'Refunded'] as const

/** The version of OrderCreated that the API has and that requests publish. */
export const placedType = 'OrderCreated@1'
type Placed = Omit<PayloadOf<typeof placedType>, 'OrderId'>
export type PlaceOrder = CamelCase<Placed>

export interface Order extends PlaceOrder {
  id: string
  /** ISO 4217. */
  currency: string
  status: (typeof orderStatuses)[number]
  /** The CreationDate of OrderCreated, as its publisher wrote it. */
  createdAt: string
  /** The time at which the order expires. Set while it waits for its payment. */
  payableUntil?: string
  correlationId: string
  traceId: string
  payment?: { id: string; amount: number; policy: string; reason?: string }
  /** Set if the charged amount differs from the order's total. */
  warning?: string
}

export type Orders = Entity<OrderFacts, Order, { place: PlaceOrder; cancel: undefined }>

/** @param termMs the time within which an order must be paid */
export function order(currency: Currency, termMs: number) {
  /** Refuses amounts with too many decimals. A rebuild skips such events, because they are dead letters. */
  function requireAmounts({ Payload }: FullEvent<(typeof factNames)[number]>): void {
    for (const [name, amount] of Object.entries(Payload)) {
      const flaw = name === 'Total' || name === 'Amount' ? amountFlaw(amount as number, currency) : undefined
      if (flaw) throw new Refused('invalid-amount', `${name} ${flaw}`, { orderId: Payload.OrderId })
    }
  }
  return entity({
    name: 'order',
    id: ({ OrderId }) => OrderId,
    events: [placedType, 'OrderCancelled', 'OrderReminded', 'OrderExpired'],
    hasGlobalIds: true,
    ...facts(factNames, requireSameOrder),
    on: {
      OrderCreated: requireAmounts,
      PaymentApproved: requireAmounts,
      PaymentRejected(event, { OrderExpired, OrderCancelled, PaymentApproved }, { id }) {
        requireAmounts(event)
        return OrderExpired && !OrderCancelled && !PaymentApproved ? { OrderCancelled: { OrderId: id } } : undefined
      },
      PaymentRefunded: requireAmounts,
    },
    commands: {
      place(input: PlaceOrder, { OrderCreated: known }, { id }) {
        const payload = { OrderId: id, ...pascalCase(input) }
        if (!known) return { OrderCreated: payload }
        if (isSamePayload('OrderCreated', known.Payload, payload)) return undefined
        throw keyReused('order', id)
      },
      cancel(_: undefined, order, { id }) {
        if (!order.OrderCreated) throw new Refused('not-found', `There is no order ${id}.`)
        if (order.PaymentRefunded) return undefined
        // A paid order can be cancelled again: payment-service may have found no payment for the first cancellation.
        if (order.PaymentApproved || !(order.OrderCancelled || order.PaymentRejected))
          return { OrderCancelled: { OrderId: id } }
        if (order.OrderCancelled) return undefined
        throw new Refused('not-cancellable', 'The order’s payment was rejected, so there is nothing to cancel.')
      },
    },
    deadlines: (order) => ({
      Reminder: order.OrderReminded ? undefined : dueOf(order, termMs / 2),
      PaymentDue: dueOf(order, termMs),
    }),
    onDeadline: {
      Reminder: (order, { id }) => ({ OrderReminded: { OrderId: id, PayableUntil: dueOf(order, termMs) as string } }),
      // payment-service decides, so a late deadline never cancels a paid order.
      PaymentDue: ({ OrderCreated }, { id }) =>
        OrderCreated && { OrderExpired: { OrderId: id, Total: OrderCreated.Payload.Total } },
    },
    view: (order) => orderOf(order, currency, dueOf(order, termMs)),
  })
}

/** @throws {Refused} `conflicting-order` for two OrderCreated events with different payloads */
function requireSameOrder(known: FullEvent, event: FullEvent): void {
  if (known.Name !== 'OrderCreated' || event.Name !== 'OrderCreated') return
  if (isSamePayload('OrderCreated', event.Payload, known.Payload)) return
  const { OrderId: orderId } = event.Payload
  throw new Refused('conflicting-order', 'this OrderId already has an order with another payload', { orderId })
}

/** Returns the time that is `ms` after the creation of an order; undefined if the order does not wait for its payment. */
function dueOf({ OrderCreated, OrderReminded: _, ...ends }: OrderFacts, ms: number): string | undefined {
  if (!OrderCreated || Object.keys(ends).length > 0) return undefined
  return new Date(timeOf(OrderCreated).getTime() + ms).toISOString()
}

function orderOf(facts: OrderFacts, { code }: Currency, payableUntil: string | undefined): Order | undefined {
  const created = facts.OrderCreated
  if (!created) return undefined
  const result = facts.PaymentApproved ?? facts.PaymentRejected
  const charged = facts.PaymentApproved?.Payload.Amount
  const { OrderId: id, Total: total } = created.Payload
  return {
    id,
    ...camelCase(placedOf(created.Payload)),
    currency: code,
    status: statusOf(facts),
    createdAt: created.CreationDate,
    ...(payableUntil && { payableUntil }),
    correlationId: created.CorrelationId,
    traceId: created.TraceId,
    ...(result && { payment: paymentOf(result) }),
    ...(charged !== undefined && charged !== total && { warning: `${charged} was charged, but the total is ${total}` }),
  }
}

const placedFields = payloadFields(placedType).filter((field) => field !== 'OrderId')

/** Returns the fields that the API has. The compiler checks that the newest version still has them. */
function placedOf(payload: PayloadOf<typeof placedType>): Placed {
  return Object.fromEntries(
    Object.entries(payload).filter(([field]) => placedFields.includes(field)),
  ) as unknown as Placed
}

/** Returns the status of an order by the list in docs/orders.md: the last status whose event has arrived applies. */
function statusOf(facts: OrderFacts): Order['status'] {
  if (facts.PaymentRefunded) return 'Refunded'
  if (facts.OrderCancelled) return 'Cancelled'
  if (facts.PaymentApproved) return 'Paid'
  return facts.PaymentRejected ? 'PaymentRejected' : 'Created'
}

function paymentOf(result: FullEvent<'PaymentApproved' | 'PaymentRejected'>): NonNullable<Order['payment']> {
  const { PaymentId: id, Amount: amount, Policy: policy } = result.Payload
  return { id, amount, policy, ...(result.Name === 'PaymentRejected' && { reason: result.Payload.Reason }) }
}
