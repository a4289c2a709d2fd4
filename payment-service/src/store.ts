import { deterministicId } from '@orderflow/envelope-schema'
import type { Documents, DocumentsOf, Page, PageOptions } from '@orderflow/service-kit'
import { evolve, type Payment, type PaymentFact, type PaymentState, paymentOf } from './domain/payment.ts'

/** The only document of a payment. After the decision, `listed` is the payment's slot in the list. */
interface PaymentDocument {
  state: PaymentState
  listed?: string
}

interface Claim {
  orderId: string
}

/** An order has one payment, so the payment’s id derives from the OrderId. */
export const paymentIdOf = (orderId: string): string => deterministicId('payment', orderId)
const claimKey = (causationId: string) => `payment-request/${causationId}/claim`
const paymentKey = (paymentId: string) => `payment/${paymentId}`

const documentBytes = 1_000

export interface PaymentStore {
  /**
   * Adds the fact that `choose` returns for the current state. Runs `choose` again if another writer was faster. Returns the resulting
   * state, and whether it changed.
   */
  saveFact(
    tenant: string,
    orderId: string,
    choose: (state: PaymentState) => PaymentFact | undefined,
  ): Promise<{ state: PaymentState; changed: boolean }>
  /**
   * Reserves a cause, which derives from an Idempotency-Key, for the payment of an order. Returns the OrderId of the first claim of this cause.
   */
  claim(tenant: string, causationId: string, orderId: string): Promise<string>
  find(tenant: string, paymentId: string): Promise<Payment | undefined>
  page(tenant: string, options: PageOptions): Promise<Page<Payment>>
}

export function createStore(documentsOf: DocumentsOf): PaymentStore {
  async function load(
    paymentIds: string[],
    read: Documents['read'],
  ): Promise<({ item: Payment; listed: string | undefined } | undefined)[]> {
    const found = await read(paymentIds.map(paymentKey))
    return paymentIds.map((id) => {
      const document = found.get(paymentKey(id))?.value as PaymentDocument | undefined
      const item = document && paymentOf(id, document.state)
      return item && { item, listed: document.listed }
    })
  }

  return {
    saveFact(tenant, orderId, choose) {
      const paymentId = paymentIdOf(orderId)
      const key = paymentKey(paymentId)
      return documentsOf(tenant).change({
        key,
        bytes: documentBytes,
        decide(view) {
          const { state: before, listed }: PaymentDocument = view.get<PaymentDocument>(key) ?? { state: {} }
          const fact = choose(before)
          const state = fact ? evolve(before, fact) : before
          const changed = state !== before
          if (changed) {
            const slot = listed ?? (state.decision && view.list(paymentId))
            view.write({ state, ...(slot && { listed: slot }) })
          }
          return { state, changed }
        },
      })
    },

    claim(tenant, causationId, orderId) {
      const key = claimKey(causationId)
      return documentsOf(tenant).change({
        key,
        bytes: documentBytes,
        decide(view) {
          const holder = view.get<Claim>(key)?.orderId
          if (holder === undefined) view.write({ orderId } satisfies Claim)
          return holder ?? orderId
        },
      })
    },

    async find(tenant, paymentId) {
      const [found] = await load([paymentId], documentsOf(tenant).read)
      return found?.item
    },

    page: (tenant, options) => documentsOf(tenant).page(options, load),
  }
}
