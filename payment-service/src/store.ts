import { deterministicId } from '@orderflow/envelope-schema'
import type { Documents, Page, PageOptions } from '@orderflow/service-kit'
import { evolve, type Payment, type PaymentFact, type PaymentState, paymentOf } from './domain/payment.ts'

/** A payment's only document: its state, and its slot in the list once it was decided. */
interface PaymentDocument {
  state: PaymentState
  listed?: string
}

/** There is one payment per order, so the one id follows from the other. */
export const paymentIdOf = (orderId: string): string => deterministicId('payment', orderId)
const paymentKey = (paymentId: string) => `payment/${paymentId}`

/** A payment's document is a few hundred bytes, whatever the order's size. */
const documentBytes = 1_000

export interface PaymentStore {
  /**
   * Adds to an order's payment the fact that `choose` makes of its state, unless it makes none or it is known; on what another
   * writer left, when that one was faster. Answers the state as it stands, whoever made it, and whether it changed.
   */
  saveFact(
    orderId: string,
    choose: (state: PaymentState) => PaymentFact | undefined,
  ): Promise<{ state: PaymentState; changed: boolean }>
  find(paymentId: string): Promise<Payment | undefined>
  page(options: PageOptions): Promise<Page<Payment>>
}

export function createStore(documents: Documents): PaymentStore {
  async function load(paymentIds: string[]): Promise<({ item: Payment; listed: string | undefined } | undefined)[]> {
    const found = await documents.read(paymentIds.map(paymentKey))
    return paymentIds.map((id) => {
      const document = found.get(paymentKey(id))?.value as PaymentDocument | undefined
      const item = document && paymentOf(id, document.state)
      return item && { item, listed: document.listed }
    })
  }

  return {
    saveFact(orderId, choose) {
      const paymentId = paymentIdOf(orderId)
      const key = paymentKey(paymentId)
      return documents.change({
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

    async find(paymentId) {
      const [found] = await load([paymentId])
      return found?.item
    },

    page: (options) => documents.page(options, load),
  }
}
