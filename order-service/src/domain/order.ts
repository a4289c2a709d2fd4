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

/** The names of the events that change an order. The store keeps each event as a fact. */
export const factNames = [
  'OrderCreated',
  'OrderCancelled',
  'PaymentApproved',
  'PaymentRejected',
  'PaymentRefunded',
] as const
type FactName = (typeof factNames)[number]

export type OrderEvent = FullEvent<FactName>
export type OrderCreated = FullEvent<'OrderCreated'>

/** The facts of an order: at most one for each event name. */
export type OrderFacts = { readonly [N in FactName]?: FullEvent<N> }

export const orderStatuses = ['Created', 'Paid', 'PaymentRejected', 'Cancelled', 'Refunded'] as const
export type OrderStatus = (typeof orderStatuses)[number]

/**
 * The version of OrderCreated that the API has and that requests publish. A newer version in the contract changes neither of them, until this
 * constant names it.
 */
export const placedType = 'OrderCreated@1'

type Placed = Omit<PayloadOf<typeof placedType>, 'OrderId'>
export type PlaceOrder = CamelCase<Placed>

export interface Order extends PlaceOrder {
  id: string
  status: OrderStatus
  /** The CreationDate of OrderCreated, as its publisher wrote it. */
  createdAt: string
  correlationId: string
  traceId: string
  payment?: { id: string; amount: number; policy: string; reason?: string }
  /** Set if the charged amount differs from the order's total. */
  warning?: string
}

/**
 * Adds an event to the facts. Of two events with the same name, keeps the event with the earlier date. Events may arrive repeatedly and in
 * any sequence, because outside publishers may use other partitions.
 */
export function evolve(facts: OrderFacts, event: OrderEvent): OrderFacts {
  const known = facts[event.Name]
  return known && !isEarlier(event, known as OrderEvent) ? facts : { ...facts, [event.Name]: event }
}

/** Compares two events by date, then Id, then content. The time of arrival has no influence, so a rebuild keeps the same facts. */
function isEarlier(a: OrderEvent, b: OrderEvent): boolean {
  const [one, other] = [momentOf(a), momentOf(b)]
  if (one.second !== other.second) return one.second < other.second
  if (one.fraction !== other.fraction) return one.fraction < other.fraction
  return a.Id === b.Id ? JSON.stringify(a) < JSON.stringify(b) : a.Id < b.Id
}

/** Returns the CreationDate with the nine decimals that the contract allows, because a JavaScript Date has only three. */
function momentOf({ CreationDate }: OrderEvent): { second: number; fraction: string } {
  const [, fraction = ''] = /\.(\d+)/.exec(CreationDate) ?? []
  return { second: Date.parse(CreationDate.replace(/\.\d+/, '')), fraction: fraction.padEnd(9, '0') }
}

/** The maximum size of a fact. Its longest text has 1,000 characters, and JSON may need six bytes for each character. */
export const maxFactBytes = 8_000

/** Returns an event with only the fields of the contract, so that facts stay small. */
export function factOf<E extends OrderEvent>(event: E): E {
  const { Id, CorrelationId, TraceId, AppId, Version, Name, CreationDate } = event
  const { id: TenantID, userId: TenantUserID } = tenantOf(event)
  const tenant = { ...(TenantID && { TenantID }), ...(TenantUserID && { TenantUserID }) }
  const payload = event.Payload as Record<string, unknown>
  const fields = payloadFields(Name).filter((field) => payload[field] !== undefined)
  const Payload = Object.fromEntries(fields.map((field) => [field, payload[field]]))
  return { Id, CorrelationId, TraceId, AppId, Version, Name, CreationDate, Payload, ...tenant } as unknown as E
}

/** @throws {OrderError} `conflicting-order` for two OrderCreated events with different payloads */
export function settle<E extends OrderEvent>(known: E | undefined, event: E): E {
  if (!known) return event
  if (event.Name === 'OrderCreated' && !isSameOrder(event, known as OrderCreated)) {
    const orderId = event.Payload.OrderId
    throw new OrderError('conflicting-order', 'this OrderId already has an order with another payload', { orderId })
  }
  return isEarlier(event, known) ? event : known
}

/** @throws {OrderError} `invalid-amount` if an amount has too many decimals */
export function requireAmount({ Payload }: OrderEvent, currency: Currency): void {
  const amounts = Object.entries(Payload).filter(([name]) => name === 'Total' || name === 'Amount')
  for (const [name, amount] of amounts) {
    const flaw = amountFlaw(amount as number, currency)
    if (flaw) throw new OrderError('invalid-amount', `${name} ${flaw}`, { orderId: Payload.OrderId })
  }
}

export function orderOf(facts: OrderFacts): Order | undefined {
  const created = facts.OrderCreated
  if (!created) return undefined
  const result = facts.PaymentApproved ?? facts.PaymentRejected
  const charged = facts.PaymentApproved?.Payload.Amount
  const { OrderId, Total } = created.Payload
  return {
    id: OrderId,
    ...camelCase(placedOf(created.Payload)),
    status: statusOf(facts),
    createdAt: created.CreationDate,
    correlationId: created.CorrelationId,
    traceId: created.TraceId,
    ...(result && { payment: paymentOf(result) }),
    ...(charged !== undefined && charged !== Total && { warning: `${charged} was charged, but the total is ${Total}` }),
  }
}

const placedFields = payloadFields(placedType).filter((field) => field !== 'OrderId')

/** Returns the fields that the API has. The compiler checks that the newest version still has them. */
function placedOf(payload: PayloadOf<typeof placedType>): Placed {
  const fields = Object.entries(payload).filter(([field]) => placedFields.includes(field))
  return Object.fromEntries(fields) as unknown as Placed
}

/** Returns the status of an order by the table in docs/orders.md. If several rows of the table match, the last of these rows applies. */
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

/** Compares only the fields that the contract names. */
export function isSameOrder(one: OrderCreated, other: OrderCreated): boolean {
  return isSamePayload('OrderCreated', one.Payload, other.Payload)
}

/**
 * Decides whether to cancel an order. A paid and cancelled order can be cancelled again until it is refunded. The reason: with an incomplete
 * store, payment-service may find no payment for the first cancellation (docs/operations.md).
 */
export function decideCancel(facts: OrderFacts): 'cancel' | 'already' | 'refused' {
  if (facts.PaymentRefunded) return 'already'
  if (facts.PaymentApproved) return 'cancel'
  if (facts.OrderCancelled) return 'already'
  return facts.PaymentRejected ? 'refused' : 'cancel'
}

/**
 * Rules of orders that a request or event can break:
 * - `not-found`: the order is unknown, or its event has not arrived yet;
 * - `not-cancellable`: the order's payment was rejected;
 * - `conflicting-order`: the OrderId belongs to an order with another customer or total;
 * - `invalid-amount`: an amount has more decimals than the currency allows;
 * - `idempotency-key-reused`: the key belongs to another order.
 */
export type OrderErrorCode =
  | 'not-found'
  | 'not-cancellable'
  | 'conflicting-order'
  | 'invalid-amount'
  | 'idempotency-key-reused'

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
