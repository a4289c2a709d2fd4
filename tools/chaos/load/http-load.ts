import { setTimeout as delay } from 'node:timers/promises'
import { createHttpClient, type HttpClientOptions } from './http-client.ts'
import type { PlannedOrder } from './orders.ts'
import { startPace } from './pace.ts'

export interface Load {
  /** Orders begun so far. */
  begun(): number
  /** Begins nothing more; returns when all that was begun has been accepted or given up. */
  end(): Promise<void>
}

/** Orders that may be under way at once: a client that waits holds up others only beyond this. */
const maxUnderWay = 1_000

/** Clients that place orders at a steady rate, the nth being `plan(n)`, up to `maxOrders`, and cancel those that are to be cancelled. */
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
