import {
  amountFlaw,
  type CamelCase,
  type Currency,
  camelCase,
  type FullEvent,
  isSamePayload,
  type PayloadOf,
  payloadFields,
  tenantOf,
} from '@orderflow/envelope-schema'

/** Names of the events that change an order. Any application may publish them. The store keeps each event as a fact. */
export const factNames = [
  'OrderCreated',
  'OrderCancelled',
  'PaymentApproved',
  'PaymentRejected',
  'PaymentRefunded',
] as const
type FactName = (typeof factNames)[number]

/** An event that changes an order, in the newest version of its name. */
export type OrderEvent = FullEvent<FactName>
export type OrderCreated = FullEvent<'OrderCreated'>

/** The facts of an order: at most one event of each name. Facts never change. */
export type OrderFacts = { readonly [N in FactName]?: FullEvent<N> }

export const orderStatuses = ['Created', 'Paid', 'PaymentRejected', 'Cancelled', 'Refunded'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/** The fields that a customer provides: those of OrderCreated without the OrderId. */
export type PlaceOrder = CamelCase<Omit<PayloadOf<'OrderCreated'>, 'OrderId'>>

/** An order as the API shows it. */
export interface Order extends PlaceOrder {
  id: string
  status: OrderStatus
  /** ISO 8601, unchanged from the event. */
  createdAt: string
  correlationId: string
  traceId: string
  payment?: { id: string; amount: number; policy: string; reason?: string }
  /** Set if the charged amount differs from the order's total. */
  warning?: string
}

/**
 * Adds an event to the facts. Of two events with one name, the earlier one stays. The result is the same for any order and repetition of
 * events, because outside publishers may use other partitions.
 */
export function evolve(facts: OrderFacts, event: OrderEvent): OrderFacts {
  const known = facts[event.Name]
  return known && !isEarlier(event, known as OrderEvent) ? facts : { ...facts, [event.Name]: event }
}

/**
 * Defines a total order of facts: by date, then by Id, then by content. It depends only on the events, so live processing and a rebuild
 * keep the same facts.
 */
function isEarlier(a: OrderEvent, b: OrderEvent): boolean {
  const [one, other] = [momentOf(a), momentOf(b)]
  if (one.second !== other.second) return one.second < other.second
  if (one.fraction !== other.fraction) return one.fraction < other.fraction
  return a.Id === b.Id ? JSON.stringify(a) < JSON.stringify(b) : a.Id < b.Id
}

/** Returns a date with all nine digits of a second that the contract allows. A Date has only three. */
function momentOf({ CreationDate }: OrderEvent): { second: number; fraction: string } {
  const [, fraction = ''] = /\.(\d+)/.exec(CreationDate) ?? []
  return { second: Date.parse(CreationDate.replace(/\.\d+/, '')), fraction: fraction.padEnd(9, '0') }
}

/** The maximum size of a fact. Its longest text is a Reason of 1,000 characters, and JSON may write a character as six bytes. */
export const maxFactBytes = 8_000

/**
 * Returns an event with only the fields of the contract, without fields that a publisher added. So facts stay small, and bulk reads fast.
 */
export function factOf<E extends OrderEvent>(event: E): E {
  const { Id, CorrelationId, TraceId, AppId, Version, Name, CreationDate } = event
  const { id: TenantID, userId: TenantUserID } = tenantOf(event)
  const tenant = { ...(TenantID && { TenantID }), ...(TenantUserID && { TenantUserID }) }
  const payload = event.Payload as Record<string, unknown>
  const fields = payloadFields(Name).filter((field) => payload[field] !== undefined)
  const Payload = Object.fromEntries(fields.map((field) => [field, payload[field]]))
  return { Id, CorrelationId, TraceId, AppId, Version, Name, CreationDate, Payload, ...tenant } as unknown as E
}

/**
 * Returns the earlier of two events with one name.
 * @throws {OrderError} `conflicting-order` for an OrderCreated that contradicts the known one
 */
export function settle<E extends OrderEvent>(known: E | undefined, event: E): E {
  if (!known) return event
  if (event.Name === 'OrderCreated' && !isSameOrder(event, known as OrderCreated)) {
    const orderId = event.Payload.OrderId
    throw new OrderError('conflicting-order', 'this OrderId already has an order with another payload', { orderId })
  }
  return isEarlier(event, known) ? event : known
}

/** Checks the amounts of an event. @throws {OrderError} `invalid-amount` for too many decimals */
export function requireAmount({ Payload }: OrderEvent, currency: Currency): void {
  const amounts = Object.entries(Payload).filter(([name]) => name === 'Total' || name === 'Amount')
  for (const [name, amount] of amounts) {
    const flaw = amountFlaw(amount as number, currency)
    if (flaw) throw new OrderError('invalid-amount', `${name} ${flaw}`, { orderId: Payload.OrderId })
  }
}

/** Returns the order that results from the facts, or undefined before its OrderCreated. */
export function orderOf(facts: OrderFacts): Order | undefined {
  const created = facts.OrderCreated
  if (!created) return undefined
  const result = facts.PaymentApproved ?? facts.PaymentRejected
  const charged = facts.PaymentApproved?.Payload.Amount
  const { OrderId, ...placed } = created.Payload
  const { Total } = placed
  return {
    id: OrderId,
    ...camelCase(placed),
    status: statusOf(facts),
    createdAt: created.CreationDate,
    correlationId: created.CorrelationId,
    traceId: created.TraceId,
    ...(result && { payment: paymentOf(result) }),
    ...(charged !== undefined && charged !== Total && { warning: `${charged} was charged, but the total is ${Total}` }),
  }
}

/** Returns the status by the table in docs/orders.md, from its last row to its first. */
function statusOf(facts: OrderFacts): OrderStatus {
  if (facts.PaymentRefunded) return 'Refunded'
  if (facts.OrderCancelled) return 'Cancelled'
  if (facts.PaymentApproved) return 'Paid'
  if (facts.PaymentRejected) return 'PaymentRejected'
  return 'Created'
}

function paymentOf(result: FullEvent<'PaymentApproved' | 'PaymentRejected'>): NonNullable<Order['payment']> {
  const { PaymentId: id, Amount: amount, Policy: policy } = result.Payload
  return result.Name === 'PaymentRejected'
    ? { id, amount, policy, reason: result.Payload.Reason }
    : { id, amount, policy }
}

/** Returns true if two OrderCreated have the same values in all fields of the contract. Other fields belong to the publisher. */
export function isSameOrder(one: OrderCreated, other: OrderCreated): boolean {
  return isSamePayload('OrderCreated', one.Payload, other.Payload)
}

/**
 * Decides whether to publish a cancellation (`cancel`), nothing (`already`), or to refuse it. It is published again while a refund is
 * missing: after a rebuild, payment-service may have seen the cancellation before the payment (docs/operations.md, rebuild).
 */
export function decideCancel(facts: OrderFacts): 'cancel' | 'already' | 'refused' {
  if (facts.PaymentRefunded) return 'already'
  if (facts.PaymentApproved) return 'cancel'
  if (facts.OrderCancelled) return 'already'
  return facts.PaymentRejected ? 'refused' : 'cancel'
}

/**
 * The rules of orders that a request or event can break:
 * - `not-found`: the order is unknown, or not yet known;
 * - `not-cancellable`: the order's payment was rejected;
 * - `conflicting-order`: the OrderId has another customer or total;
 * - `invalid-amount`: an amount has more decimals than the currency;
 * - `idempotency-key-reused`: the key belongs to an order with another customer or total.
 */
export type OrderErrorCode =
  | 'not-found'
  | 'not-cancellable'
  | 'conflicting-order'
  | 'invalid-amount'
  | 'idempotency-key-reused'

/** A request or event breaks a rule of orders. `details` may name the order. */
export class OrderError extends Error {
  readonly code: OrderErrorCode
  readonly details: { orderId?: string }
  constructor(code: OrderErrorCode, message: string, details: { orderId?: string } = {}) {
    super(message)
    this.name = 'OrderError'
    this.code = code
    this.details = details
  }
}
