import { currencyCodes, currencyOf, paymentEvents } from '@orderflow/envelope-schema'
import { defineService, guidText, section } from '@orderflow/service-kit'
import { createCommands } from './commands.ts'
import { amountLimit } from './domain/policy.ts'
import { createReactions, createRebuild } from './reactions.ts'
import { paymentRoutes } from './routes/payments.ts'
import { createStore } from './store.ts'

interface OwnSettings {
  /** In the currency of the orders' totals. */
  Policy: { ApproveUpTo: number }
  /** Of all amounts; order-service has the same. */
  Money: { Currency: string }
}

/** The largest amount that an event may say (envelope-schema/schemas/common.json). */
const maxAmount = 1e12

export const service = defineService<OwnSettings>({
  root: new URL('..', import.meta.url),
  description: 'Payments of orders: one per order, decided by a policy when the order arrives, or made by hand.',
  sections: {
    Policy: section({ ApproveUpTo: { type: 'number', minimum: 0, maximum: maxAmount } }),
    Money: section({ Currency: { enum: currencyCodes } }),
  },
  produces: [paymentEvents],
  refusals: {
    'not-found': { status: 404, title: 'Payment not found' },
    'payment-exists': { status: 409, title: 'The order has its payment already' },
    'idempotency-key-reused': { status: 422, title: 'The Idempotency-Key stands for another payment' },
    'conflicting-order': { status: 409, title: 'The order was charged with another total' },
    'invalid-amount': { status: 400, title: 'The amount has more decimals than the currency' },
    'foreign-payment': { status: 409, title: 'This service did not announce the payment' },
  },
  problemMembers: { paymentId: { ...guidText, description: 'The payment in question, if there is one.' } },
  create({ settings, documents, ...context }) {
    const store = createStore(documents)
    const currency = currencyOf(settings.Money.Currency)
    const policy = amountLimit(settings.Policy.ApproveUpTo)
    return {
      routes: paymentRoutes(createCommands(store, policy, context), store, currency),
      reactions: createReactions(store, policy, currency, context),
      rebuild: createRebuild(store, context),
    }
  },
})
