import { deterministicId } from '@orderflow/envelope-schema'
import type { Documents, DocumentsOf, Page, PageOptions } from '@orderflow/service-kit'
import { evolve, type Payment, type PaymentFact, type PaymentState, paymentOf } from './domain/payment.ts'

/** A payment's only document: its state, and its slot in the list once it was decided. */
interface PaymentDocument {
  state: PaymentState
  listed?: string
}

/** Which order an Idempotency-Key was used for. */
interface Claim {
  orderId: string
}

/** There is one payment per order, so the one id follows from the other. */
export const paymentIdOf = (orderId: string): string => deterministicId('payment', orderId)
const claimKey = (causationId: string) => `payment-request/${causationId}/claim`
const paymentKey = (paymentId: string) => `payment/${paymentId}`

/** A payment's document is a few hundred bytes, whatever the order's size. */
const documentBytes = 1_000

export interface PaymentStore {
  /**
   * Adds to the payment of a tenant's order the fact that `choose` makes of its state, unless it makes none or it is known; on what another
   * writer left, when that one was faster. Answers the state as it stands, whoever made it, and whether it changed.
   */
  saveFact(
    tenant: string,
    orderId: string,
    choose: (state: PaymentState) => PaymentFact | undefined,
  ): Promise<{ state: PaymentState; changed: boolean }>
  /** Reserves what an Idempotency-Key stands for, the cause of a payment, for an order. Returns the order that holds it, the first one. */
  claim(tenant: string, causationId: string, orderId: string): Promise<string>
  /** Nothing of another tenant's payment, as of one that is not there. */
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
