import { setTimeout as delay } from 'node:timers/promises'
import { createHttpClient, type HttpClientOptions } from './http-client.ts'
import type { PlannedOrder } from './orders.ts'
import { startPace } from './pace.ts'

export interface Load {
  begun(): number
  /** Begins no more orders, and waits for the orders that have begun. */
  end(): Promise<void>
}

/** The largest number of orders under way. A new order waits only if this number is reached. */
const maxUnderWay = 1_000

/** Places orders at a steady rate, up to `maxOrders`, and cancels the orders whose plan includes a cancellation. */
export function startHttpLoad(
  plan: (index: number) => PlannedOrder,
  perSecond: number,
  { maxOrders = Number.POSITIVE_INFINITY, ...options }: HttpClientOptions & { maxOrders?: number },
): Load {
  const client = createHttpClient(options)
  const underWay = new Set<Promise<void>>()
  let begun = 0

  async function follow(index: number): Promise<void> {
    const order = plan(index)
    const accepted = await client.place(order)
    if (!accepted || order.cancelAfterMs === undefined) return
    await delay(order.cancelAfterMs)
    await client.cancel(order.name, accepted)
  }

  const pace = startPace(
    perSecond,
    () => underWay.size < maxUnderWay && begun < maxOrders,
    (index) => {
      begun += 1
      const following = follow(index).finally(() => underWay.delete(following))
      underWay.add(following)
    },
  )
  return {
    begun: () => begun,
    async end() {
      await pace.stop()
      await Promise.all(underWay)
    },
  }
}
