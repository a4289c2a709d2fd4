import type { Stores } from '../support/stores.ts'

/**
 * The documents of a service that its list will never show, and what holes there are in the list: a document is stored after the slot that
 * it names, whatever is killed (packages/service-kit/src/state/arrival-list.ts), and a shard's chunks are begun one after the other. Slots without
 * a document are what a kill may leave. Read past Dapr.
 */
export async function unlisted(stores: Stores, service: string): Promise<string[]> {
  const stored = new Map((await stores.read(service)).map(([key, json]) => [key, JSON.parse(json)]))
  /** `ORDER` in order/ORDER/OrderCreated, `PAYMENT` in payment/PAYMENT. */
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
