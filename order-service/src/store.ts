import { type Page, PermanentFault, type Read, type Received, readPage, type UnitOfWork } from '@orderflow/service-kit'
import {
  evolve,
  factOf,
  isEarlier,
  isSameOrder,
  maxFactBytes,
  type Order,
  type OrderEvent,
  type OrderFacts,
  orderEventNames,
  orderOf,
} from './domain/order.ts'

/** One fact as it is stored: the event itself and, on an order's first, its place in the list. */
interface FactDocument {
  event: OrderEvent
  listed?: string
}

const factKey = (orderId: string, name: string) => `order/${orderId}/${name}`
const claimKey = (orderId: string) => `order/${orderId}/claim`

export interface Claim {
  holder: Received<'OrderCreated'>
  isStored: boolean
}

export interface OrderStore {
  /**
   * Stores the event as a fact of its order; a duplicate changes nothing. Answers whether anything changed.
   * @throws {PermanentFault} `conflicting-order` for an OrderCreated that contradicts the one known
   */
  record(event: OrderEvent): Promise<boolean>
  /**
   * Reserves an OrderId that an Idempotency-Key stands for, before anything is published. Answers the event that
   * holds it, the very one of the first request, so that a retry publishes the same bytes; and whether that order
   * is stored already, so that nothing is left to publish.
   */
  claim(event: Received<'OrderCreated'>): Promise<Claim>
  find(orderId: string): Promise<OrderFacts>
  page(options: { cursor: string | undefined; limit: number }): Promise<Page<Order>>
}

/** Facts that are remembered as stored: more than the log is behind the requests, unless something is broken. */
const maxRemembered = 5_000

export function createStore(app: { id: string }, read: Read, commit: UnitOfWork): OrderStore {
  /**
   * Facts that this process saw stored, by key. Most events of the log are its own and stored already when they arrive:
   * they need not be read to learn that they change nothing, now or ever, since facts are only added.
   */
  let [newer, older] = [new Map<string, string>(), new Map<string, string>()]
  function remember(key: string, text: string): void {
    if (newer.size === maxRemembered) [newer, older] = [new Map(), newer]
    newer.set(key, text)
  }

  async function load(orderIds: string[]): Promise<{ facts: OrderFacts; listed: string | undefined }[]> {
    const documents = await read(orderIds.flatMap((id) => orderEventNames.map((name) => factKey(id, name))))
    return orderIds.map((id) => {
      const known = orderEventNames.flatMap((name) => {
        const document = documents.get(factKey(id, name))?.value as FactDocument | undefined
        return document ? [document] : []
      })
      const facts = known.reduce((sum: OrderFacts, { event }) => evolve(sum, event), {})
      return { facts, listed: known.find(({ listed }) => listed)?.listed }
    })
  }

  return {
    async record(received) {
      const event = factOf(received)
      const orderId = event.Payload.OrderId
      const key = factKey(orderId, event.Name)
      const text = JSON.stringify(event)
      if ((newer.get(key) ?? older.get(key)) === text) return false
      const changed = await commit({
        keys: [key],
        bytes: maxFactBytes,
        decide(view) {
          const known = view.get<FactDocument>(key)
          if (!known) {
            const fact = event.Name === 'OrderCreated' ? { event, listed: view.list(orderId) } : { event }
            // Of its own orders this service tells one thing only. All else may be told twice and differently, to two replicas.
            if (event.Name === 'OrderCreated' && event.AppId === app.id) view.overwrite(key, fact)
            else view.writeIfUnchanged(key, fact)
            return true
          }
          if (event.Name === 'OrderCreated' && !isSameOrder(event, known.event as typeof event)) {
            throw new PermanentFault('conflicting-order', 'this OrderId is known with another payload')
          }
          const isChange = isEarlier(event, known.event)
          if (isChange) view.writeIfUnchanged(key, { ...known, event })
          return isChange
        },
      })
      remember(key, text)
      return changed
    },

    claim(event) {
      const orderId = event.Payload.OrderId
      const [claim, created] = [claimKey(orderId), factKey(orderId, 'OrderCreated')]
      return commit({
        keys: [claim, created],
        bytes: maxFactBytes,
        decide(view) {
          const stored = view.get<FactDocument>(created)?.event as Received<'OrderCreated'> | undefined
          if (stored) return { holder: stored, isStored: true }
          const claimed = view.get<Received<'OrderCreated'>>(claim)
          if (!claimed) view.writeIfUnchanged(claim, event)
          return { holder: claimed ?? event, isStored: false }
        },
      })
    },

    async find(orderId) {
      const [found] = await load([orderId])
      return found?.facts ?? {}
    },

    page(options) {
      return readPage(read, options, async (orderIds) => {
        return (await load(orderIds)).map(({ facts, listed }) => {
          const item = orderOf(facts)
          return item && { item, listed }
        })
      })
    },
  }
}
