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

/** The facts of an order: at most one event of each name, each immutable. */
export type OrderFacts = { readonly [N in FactName]?: FullEvent<N> }

export const orderStatuses = ['Created', 'Paid', 'PaymentRejected', 'Cancelled', 'Refunded'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/** The fields that a customer gives: those of OrderCreated, without the id. */
export type PlaceOrder = CamelCase<Omit<PayloadOf<'OrderCreated'>, 'OrderId'>>

/** An order as the API shows it. */
export interface Order extends PlaceOrder {
  id: string
  status: OrderStatus
  /** ISO 8601, as its publisher wrote it. */
  createdAt: string
  correlationId: string
  traceId: string
  payment?: { id: string; amount: number; policy: string; reason?: string }
  /** Set when what was charged is not the order's total. */
  warning?: string
}

/**
 * Adds an event to the facts. Commutes and is idempotent for every pair of events, since publishers outside hash
 * their keys to other partitions and nothing arrives in a promised order: of two events with one name the earlier
 * one stays, whichever came first.
 */
export function evolve(facts: OrderFacts, event: OrderEvent): OrderFacts {
  const known = facts[event.Name]
  return known && !isEarlier(event, known as OrderEvent) ? facts : { ...facts, [event.Name]: event }
}

/**
 * A total order on facts: by date, then by Id, then by what they say. It depends on the events alone, so live consumption and a rebuild keep
 * the same one, in whatever order they read the partitions.
 */
function isEarlier(a: OrderEvent, b: OrderEvent): boolean {
  const [one, other] = [momentOf(a), momentOf(b)]
  if (one.second !== other.second) return one.second < other.second
  if (one.fraction !== other.fraction) return one.fraction < other.fraction
  return a.Id === b.Id ? JSON.stringify(a) < JSON.stringify(b) : a.Id < b.Id
}

/** Returns a date with all nine digits of its second that the contract allows; a Date holds three. */
function momentOf({ CreationDate }: OrderEvent): { second: number; fraction: string } {
  const [, fraction = ''] = /\.(\d+)/.exec(CreationDate) ?? []
  return { second: Date.parse(CreationDate.replace(/\.\d+/, '')), fraction: fraction.padEnd(9, '0') }
}

/** A fact's largest size: its longest text is a Reason of 1,000 characters, which JSON may write as six bytes each. */
export const maxFactBytes = 8_000

/**
 * Returns the part of an event that an order keeps: the fields that the contract names, and none that a publisher may add. So a fact stays
 * small, and so do the bulk reads of many.
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
 * The fact to keep of two events with one name: the earlier one.
 * @throws {OrderError} `conflicting-order` for an OrderCreated that contradicts the one known, which stays
 */
export function settle<E extends OrderEvent>(known: E | undefined, event: E): E {
  if (!known) return event
  if (event.Name === 'OrderCreated' && !isSameOrder(event, known as OrderCreated)) {
    const orderId = event.Payload.OrderId
    throw new OrderError('conflicting-order', 'this OrderId is known with another payload', { orderId })
  }
  return isEarlier(event, known) ? event : known
}

/** Refuses an event whose amount is none of the currency. @throws {OrderError} `invalid-amount` */
export function requireAmount({ Payload }: OrderEvent, currency: Currency): void {
  const amounts = Object.entries(Payload).filter(([name]) => name === 'Total' || name === 'Amount')
  for (const [name, amount] of amounts) {
    const flaw = amountFlaw(amount as number, currency)
    if (flaw) throw new OrderError('invalid-amount', `${name} ${flaw}`, { orderId: Payload.OrderId })
  }
}

/** The order that the facts add up to, or undefined as long as its OrderCreated has not been seen. */
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
    ...(charged !== undefined && charged !== Total && { warning: `${charged} was charged, the total is ${Total}` }),
  }
}

/** The table in docs/orders.md, from its last row to its first. */
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

/** Returns whether two OrderCreated have the same values in all fields that the contract names. Other fields are the publisher's. */
export function isSameOrder(one: OrderCreated, other: OrderCreated): boolean {
  return isSamePayload('OrderCreated', one.Payload, other.Payload)
}

/**
 * What a cancellation comes to: an event is due, it has happened already, or there is nothing left to cancel. It is due again
 * while a refund is outstanding: payment-service may have had it before it knew of the payment (docs/operations.md, rebuild).
 */
export function decideCancel(facts: OrderFacts): 'cancel' | 'already' | 'refused' {
  if (facts.PaymentRefunded) return 'already'
  if (facts.PaymentApproved) return 'cancel'
  if (facts.OrderCancelled) return 'already'
  return facts.PaymentRejected ? 'refused' : 'cancel'
}

/**
 * The rules of orders that a request or event can break:
 * - `not-found`: nothing is known of the order (yet);
 * - `not-cancellable`: its payment was rejected, so there is nothing left to cancel;
 * - `conflicting-order`: the OrderId is known with another customer or total;
 * - `invalid-amount`: an amount has more decimals than the currency;
 * - `idempotency-key-reused`: the key stands for an order with another customer or total.
 */
export type OrderErrorCode =
  | 'not-found'
  | 'not-cancellable'
  | 'conflicting-order'
  | 'invalid-amount'
  | 'idempotency-key-reused'

/** A request or event that breaks a rule of orders. `details` may name the order in question. */
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
