import { type Envelope, type FullEvent, tenantOf, upcast } from '@orderflow/envelope-schema'
import type { Documents, DocumentsOf, Page, PageOptions } from '@orderflow/service-kit'
import {
  evolve,
  factNames,
  factOf,
  maxFactBytes,
  type Order,
  type OrderCreated,
  type OrderEvent,
  type OrderFacts,
  orderOf,
  type placedType,
  settle,
} from './domain/order.ts'

/**
 * A stored fact. Readers convert its event to the newest Version. In the document of OrderCreated, `listed` is the order's slot in the list.
 */
interface FactDocument {
  event: OrderEvent
  listed?: string
}

const factKey = (orderId: string, name: string) => `order/${orderId}/${name}`
const eventIn = (document: FactDocument | undefined) => document && upcast(document.event)
const claimKey = (orderId: string) => `order/${orderId}/claim`

/** An OrderCreated in any version. */
type AnyOrderCreated = Envelope & Pick<OrderCreated, 'Name'>

export interface Claim {
  /** The event in the version in which the first request published it. */
  holder: AnyOrderCreated
  isStored: boolean
}

export interface OrderStore {
  /**
   * Stores the event as a fact. Returns true if the stored facts changed; a duplicate changes nothing.
   * @throws {OrderError} `conflicting-order`
   */
  saveFact(event: OrderEvent): Promise<boolean>
  /**
   * Reserves the OrderId of an Idempotency-Key before the order is published. Returns the event of the first request with this key. If
   * `isStored` is false, the caller must publish this event, even if the first request has already published it.
   */
  claim(event: FullEvent<typeof placedType>): Promise<Claim>
  /** Returns the facts of the tenant's order, or an empty object for an unknown order. */
  find(tenant: string, orderId: string): Promise<OrderFacts>
  page(tenant: string, options: PageOptions): Promise<Page<Order>>
}

/** The number of facts to remember: more than this process saves during the usual delay of the log. */
const maxRemembered = 5_000

export function createStore(documentsOf: DocumentsOf): OrderStore {
  const seen = createMemory(maxRemembered, () => documentsOf('').generation())

  async function load(
    orderIds: string[],
    read: Documents['read'],
  ): Promise<{ facts: OrderFacts; listed: string | undefined }[]> {
    const found = await read(orderIds.flatMap((id) => factNames.map((name) => factKey(id, name))))
    return orderIds.map((id) => {
      const known = factNames.flatMap((name) => {
        const document = found.get(factKey(id, name))?.value as FactDocument | undefined
        return document ? [document] : []
      })
      const facts = known.reduce((sum: OrderFacts, { event }) => evolve(sum, upcast(event)), {})
      return { facts, listed: known.find(({ listed }) => listed)?.listed }
    })
  }

  return {
    async saveFact(received) {
      const event = factOf(received)
      const tenant = tenantOf(event).id
      const orderId = event.Payload.OrderId
      const key = factKey(orderId, event.Name)
      const text = JSON.stringify(event)
      if (seen.has(key, text)) return false
      const changed = await documentsOf(tenant).change({
        key,
        bytes: maxFactBytes,
        decide(view) {
          const known = view.get<FactDocument>(key)
          const stored = eventIn(known)
          const kept = settle(stored, event)
          if (kept === stored) return false
          // Any publisher can use our AppId. So the stored fact is compared first, even if the event seems to be our own.
          const listed = known ? known.listed : event.Name === 'OrderCreated' ? view.list(orderId) : undefined
          view.write({ event: kept, ...(listed !== undefined && { listed }) })
          return true
        },
      })
      seen.add(key, text)
      return changed
    },

    async claim(event) {
      const orderId = event.Payload.OrderId
      const documents = documentsOf(tenantOf(event).id)
      const [claim, created] = [claimKey(orderId), factKey(orderId, 'OrderCreated')]
      const decided = await documents.change({
        key: claim,
        beside: [created],
        bytes: maxFactBytes,
        decide(view): Claim & { isNew: boolean } {
          const stored = eventIn(view.get<FactDocument>(created)) as OrderCreated | undefined
          if (stored) return { holder: stored, isStored: true, isNew: false }
          const claimed = view.get<AnyOrderCreated>(claim)
          if (!claimed) view.write(event)
          return { holder: claimed ?? event, isStored: false, isNew: !claimed }
        },
      })
      if (!decided.isNew) return decided
      // The order may have arrived from the log while the claim was written.
      const stored = eventIn((await documents.read([created])).get(created)?.value as FactDocument | undefined)
      return stored ? { holder: stored as OrderCreated, isStored: true } : decided
    },

    async find(tenant, orderId) {
      const [found] = await load([orderId], documentsOf(tenant).read)
      return found?.facts ?? {}
    },

    page: (tenant, options) =>
      documentsOf(tenant).page(options, async (orderIds, read) =>
        (await load(orderIds, read)).map(({ facts, listed }) => {
          const item = orderOf(facts)
          return item && { item, listed }
        }),
      ),
  }
}

/**
 * Remembers at least the `size` facts that this process saved last. When their events arrive from the log, the process needs no read. Forgets them when
 * the store may have lost them.
 */
function createMemory(size: number, generation: () => number) {
  let [newer, older] = [new Map<string, string>(), new Map<string, string>()]
  let current: number | undefined

  function forgetLost(): void {
    if (current === generation()) return
    current = generation()
    ;[newer, older] = [new Map(), new Map()]
  }
  return {
    has(key: string, text: string): boolean {
      forgetLost()
      return (newer.get(key) ?? older.get(key)) === text
    },
    add(key: string, text: string): void {
      forgetLost()
      if (newer.size === size) [newer, older] = [new Map(), newer]
      newer.set(key, text)
    },
  }
}
