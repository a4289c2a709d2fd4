import {
  createEnvelope,
  deterministicId,
  type Envelope,
  type EventName,
  type FullEvent,
  noTenant,
  paymentEvents,
  type Tenant,
  tenantOf,
} from '@orderflow/envelope-schema'
import type { Publish } from '@orderflow/service-kit'
import { type Cause, ownerOf, PaymentError, type PaymentFact, type PaymentState } from './domain/payment.ts'
import { paymentIdOf } from './store.ts'

interface Publisher {
  id: string
  name: string
}

/** Returns the event that announces a decision. It depends only on the stored state, so every redelivery announces the same event. */
export function resultOf(app: Publisher, { decision }: PaymentState): Envelope | undefined {
  if (!decision) return undefined
  const { orderId, amount, policy, source, tenant = noTenant, reason = '' } = decision
  const paymentId = paymentIdOf(orderId)
  const payload = { PaymentId: paymentId, OrderId: orderId, Amount: amount, Policy: policy, Source: source }
  return decision.approved
    ? createEnvelope({ ...commonFields(app, paymentId, 'PaymentApproved', decision, tenant), payload })
    : createEnvelope({
        ...commonFields(app, paymentId, 'PaymentRejected', decision, tenant),
        payload: { ...payload, Reason: reason },
      })
}

export function refundOf(app: Publisher, { decision, refund }: PaymentState): Envelope | undefined {
  if (!decision?.approved || !refund) return undefined
  const { orderId, amount, tenant = noTenant } = decision
  const paymentId = paymentIdOf(orderId)
  return createEnvelope({
    ...commonFields(app, paymentId, 'PaymentRefunded', refund, tenant),
    payload: {
      PaymentId: paymentId,
      OrderId: orderId,
      Amount: amount,
      Reason: 'the order was cancelled',
    },
  })
}

function commonFields<N extends EventName>(app: Publisher, paymentId: string, type: N, cause: Cause, tenant: Tenant) {
  return {
    app,
    type,
    id: eventId(tenant, paymentId, type),
    correlationId: cause.correlationId,
    traceId: cause.traceId,
    creationDate: new Date(cause.at),
    tenant,
    headers: { CausationId: cause.causationId },
  }
}

/**
 * Returns the fact that an event announces. This is the inverse of `resultOf` and `refundOf`.
 * @throws {PaymentError} `foreign-payment` for an event that this service did not announce
 */
export function announcedFact(
  app: Publisher,
  event: FullEvent<'PaymentApproved' | 'PaymentRejected' | 'PaymentRefunded'>,
): PaymentFact {
  const { OrderId: orderId, Amount: amount } = event.Payload
  const causationId = event.Headers?.CausationId
  const tenant = tenantOf(event)
  const isOurs = event.AppId === app.id && event.Id === eventId(tenant, paymentIdOf(orderId), event.Name)
  if (!isOurs || typeof causationId !== 'string') {
    throw new PaymentError('foreign-payment', 'this service did not announce the payment')
  }
  const at = event.CreationDate
  const cause: Cause = { causationId, correlationId: event.CorrelationId, traceId: event.TraceId, at }
  if (event.Name === 'PaymentRefunded') return { type: 'refunded', refund: cause }
  const { Policy: policy, Source: source } = event.Payload
  const verdict =
    event.Name === 'PaymentApproved'
      ? { approved: true, policy }
      : { approved: false, policy, reason: event.Payload.Reason }
  return { type: 'decided', decision: { ...cause, orderId, amount, source, ...ownerOf(tenant), ...verdict } }
}

/**
 * Returns the Id of an event. The Version has no influence, because a payment is announced once. The tenant has an influence, because two
 * tenants may have the same OrderId.
 */
const eventId = ({ id: tenantId }: Tenant, paymentId: string, name: string) =>
  // biome-ignore lint/plugin/no-spread-arguments: an event has at most one tenant
  deterministicId('event', paymentId, name, ...(tenantId ? [tenantId] : []))

export async function announce(publish: Publish, event: Envelope | undefined): Promise<void> {
  if (event) await publish(paymentEvents, event)
}
