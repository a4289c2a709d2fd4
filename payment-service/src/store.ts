import { deterministicId } from '@orderflow/envelope-schema'
import { type Page, type Read, readPage, type UnitOfWork } from '@orderflow/service-kit'
import {
  decide,
  evolve,
  type Payment,
  type PaymentCommand,
  type PaymentFact,
  type PaymentState,
  paymentOf,
} from './domain/payment.ts'
import type { Policy } from './domain/policy.ts'

/** A payment's only document: its state, and its place in the list once it was decided. */
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
   * Decides a command on what is stored and keeps the outcome, unless another writer was faster: then it decides
   * again. Answers the state as it stands, whoever made it.
   */
  settle(orderId: string, command: PaymentCommand): Promise<PaymentState>
  /** Adds a fact that the log tells. Answers whether anything changed. */
  restore(orderId: string, fact: PaymentFact): Promise<boolean>
  find(paymentId: string): Promise<Payment | undefined>
  page(options: { cursor: string | undefined; limit: number }): Promise<Page<Payment>>
}

export function createStore(read: Read, commit: UnitOfWork, policy: Policy): PaymentStore {
  async function load(paymentIds: string[]): Promise<({ item: Payment; listed: string | undefined } | undefined)[]> {
    const documents = await read(paymentIds.map(paymentKey))
    return paymentIds.map((id) => {
      const document = documents.get(paymentKey(id))?.value as PaymentDocument | undefined
      const item = document && paymentOf(id, document.state)
      return item && { item, listed: document.listed }
    })
  }

  /** Changes the order's payment by the fact that `choose` makes of its state, unless there is none or it is known. */
  function change<R>(
    orderId: string,
    choose: (state: PaymentState) => PaymentFact | undefined,
    answer: (next: PaymentState, before: PaymentState) => R,
  ): Promise<R> {
    const paymentId = paymentIdOf(orderId)
    const key = paymentKey(paymentId)
    return commit({
      keys: [key],
      bytes: documentBytes,
      decide(view) {
        const { state, listed }: PaymentDocument = view.get<PaymentDocument>(key) ?? { state: {} }
        const fact = choose(state)
        const next = fact ? evolve(state, fact) : state
        if (next !== state) {
          const place = listed ?? (next.decision && view.list(paymentId))
          view.writeIfUnchanged(key, { state: next, ...(place && { listed: place }) })
        }
        return answer(next, state)
      },
    })
  }

  return {
    settle: (orderId, command) =>
      change(
        orderId,
        (state) => decide(state, command, policy),
        (next) => next,
      ),

    restore: (orderId, fact) =>
      change(
        orderId,
        () => fact,
        (next, before) => next !== before,
      ),

    async find(paymentId) {
      const [found] = await load([paymentId])
      return found?.item
    },

    page: (options) => readPage(read, options, load),
  }
}
