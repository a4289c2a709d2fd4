import type { Stores } from '@orderflow/test-kit/stacks'

/**
 * Returns the documents of a service that are missing from its list, and the missing chunks of the list. After a kill, a slot may lack its
 * document, but each document must have its slot. Reads the store directly, without Dapr.
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
