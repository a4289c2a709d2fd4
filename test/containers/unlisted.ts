import type { Stores } from '../support/stores.ts'

/**
 * Returns the documents of a service that its list will never show, and the holes in the list. A document is stored after its slot
 * (packages/service-kit/src/state/arrival-list.ts). So a kill may leave a slot whose document is missing, but each document has its slot.
 * Reads the store directly instead of through Dapr.
 */
export async function unlisted(stores: Stores, service: string): Promise<string[]> {
  const stored = new Map((await stores.read(service)).map(([key, json]) => [key, JSON.parse(json)]))
  /** Returns `ORDER` from order/ORDER/OrderCreated, and `PAYMENT` from payment/PAYMENT. */
  const idOf = (key: string) => key.split('/')[1]
  const missing = [...stored].flatMap(([key, { listed }]) => {
    if (!listed) return []
    const [shard, n, index] = listed.split(':')
    return stored.get(`list/${shard}/${n}`)?.ids[index] === idOf(key) ? [] : [`${key} is not at ${listed}`]
  })
  const holes = [...stored.keys()].flatMap((key) => {
    const [, shard, n] = /^list\/(\d+)\/(\d+)$/.exec(key) ?? []
    const before = `list/${shard}/${Number(n) - 1}`
    return n === undefined || n === '0' || stored.has(before) ? [] : [`${before} is missing`]
  })
  return [...missing, ...holes]
}
