import { orderUrl, send } from '@orderflow/chaos/clients/api'
import type { Order } from '@orderflow/order-service/domain'
import type { Addresses } from '@orderflow/stack'

/** Ids of all orders that order-service lists, newest first. */
export async function listedOrders(stack: Pick<Addresses, 'services'>): Promise<string[]> {
  const ids: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor ? `&cursor=${cursor}` : ''
    const url = `${orderUrl(stack)}/v1/orders?limit=100${query}`
    const { body } = await send<{ items: Order[]; next: string | null }>(url)
    ids.push(...body.items.map(({ id }) => id))
    cursor = body.next
  }
  return ids
}
