import { paymentEvents } from '@orderflow/envelope-schema'
import {
  createHttpTarget,
  currencyCodes,
  currencyOf,
  defineService,
  guidText,
  openEntity,
  section,
  type TargetSettings,
  targetSection,
} from '@orderflow/service-kit'
import { payment } from './payment.ts'
import { amountLimit, byProvider } from './policy.ts'
import { paymentRoutes } from './routes.ts'

interface OwnSettings {
  /** Amounts up to this limit are approved. */
  Policy: { ApproveUpTo: number }
  /** The currency of all amounts, from services.json. */
  Money: { Currency: string }
  /** The choice between the policy and the provider. */
  Payments: { DecidedBy: 'policy' | 'provider' }
  /** The payment provider. */
  Provider: TargetSettings
}

/** The largest valid amount (envelope-schema/schemas/common.json). */
const maxAmount = 1e12

export const service = defineService<OwnSettings>({
  root: new URL('..', import.meta.url),
  description:
    'Makes one payment per order, when the order arrives or on request. A policy or a payment provider approves or rejects the payment.',
  sections: {
    Policy: section({
      ApproveUpTo: {
        type: 'number',
        minimum: 0,
        maximum: maxAmount,
        description: 'The largest amount that the policy approves.',
      },
    }),
    Payments: section({
      DecidedBy: { enum: ['policy', 'provider'], description: 'Whether the policy or the payment provider decides.' },
    }),
    Provider: targetSection('the payment provider'),
    Money: section({
      Currency: {
        enum: currencyCodes,
        shared: true,
        description: 'The currency of all amounts.',
      },
    }),
  },
  produces: [paymentEvents],
  refusals: {
    'not-found': { status: 404, title: 'Payment not found' },
    'payment-exists': { status: 409, title: 'The order already has a payment' },
    'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key belongs to another payment' },
    'conflicting-order': { status: 409, title: 'The order was charged with another total' },
    'invalid-amount': { status: 400, title: 'The amount has more decimals than the currency' },
    'provider-refused': { status: 409, title: 'The provider refuses to end the payment' },
    'foreign-payment': { status: 409, title: 'This service did not announce the payment' },
  },
  problemMembers: { paymentId: { ...guidText, description: 'The id of the affected payment, if any.' } },
  create({ settings, ...context }) {
    const currency = currencyOf(settings.Money.Currency)
    const { Payments, Policy, Provider } = settings
    const policy = Payments.DecidedBy === 'provider' ? byProvider : amountLimit(Policy.ApproveUpTo)
    // Payments that wait for the provider continue, also if the policy decides about later ones.
    const isNeeded = Payments.DecidedBy === 'provider' || Provider.Address !== ''
    const targets = isNeeded ? { provider: createHttpTarget('Provider', Provider) } : {}
    const payments = openEntity(payment(policy, currency), context, targets)
    return { entities: [payments], routes: paymentRoutes(payments, currency) }
  },
})
