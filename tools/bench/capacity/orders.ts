import { setTimeout as delay } from 'node:timers/promises'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { entryOf } from '@orderflow/stack'
import { type ProcessSpec, serviceMissing } from '@orderflow/stack/internals'
import { untilCaughtUp } from '../support/caught-up.ts'
import { postOrders } from '../support/load.ts'
import { distance } from '../support/stream.ts'
import { readMeters, undisturbed } from './meter.ts'
import type { Cell, Sizes } from './payments.ts'
import { type Bytes, bytesOf, type Site } from './site.ts'

/** Fewer connections post smaller batches, so an order needs more calls. */
const connections = [64, 256]

/** Measures the path of an order through both services, with one replica of each. Clients wait for each answer. */
export async function measureOrders(site: Site, sizes: Sizes): Promise<{ cells: Cell[]; bytes: Bytes }> {
  const { stack, stream, store } = site
  await store.empty()
  const specs: ProcessSpec[] = ['order-service', 'order-sidecar', 'payment-service', 'payment-sidecar'].map(
    stack.specOf,
  )
  let placed = 0

  async function untilPaid(before: bigint[], events: number): Promise<void> {
    await stack.wait('all orders to be Paid', specs, async () => {
      await delay(50)
      const published = distance(before, await stream.ends(paymentEvents))
      if (published < events) return `${published} payments of ${events} orders`
      // Counting reads the whole table, so it begins when all payments are published.
      const paid = await store.count('order-service', '/PaymentApproved')
      return paid < placed ? `${paid} of ${placed} are` : undefined
    })
  }

  async function measure(load: string, post: () => Promise<number>): Promise<Cell> {
    const before = await stream.ends(paymentEvents)
    const end = (await readMeters(stack, specs))()
    const events = await post()
    placed += events
    await untilPaid(before, events)
    const reading = await end()
    // The service still receives some of its own events, and this work would affect the next measurement.
    await untilCaughtUp(stack, stream, [['order-service', orderEvents]], specs)
    return { load, replicas: 1, events, perSecond: events / reading.seconds, ...reading }
  }

  const loop = (count: number, amount: number) =>
    measure(`${count} connections`, async () => {
      const { answered, failed } = await postOrders(stack.ordersUrl, { connections: count, amount })
      if (failed > 0) throw new Error(`${failed} requests failed`)
      return answered
    })

  stack.launch(specs)
  const { http } = entryOf(stack.plan.ports.services, 'order-service')
  await stack.wait('order-service', specs, () => serviceMissing('order-service', http))
  await loop(256, sizes.warmUp)
  const bytes = await bytesOf(site)
  const before = placed
  const cells = [await measure('idle', () => delay(sizes.idleSeconds * 1_000, 0))]
  for (let round = 1; round <= sizes.rounds; round += 1) {
    for (const count of connections) cells.push(await undisturbed(site.tell, () => loop(count, sizes.events / 4)))
  }
  const after = await bytesOf(site)
  await stack.stop(specs)
  const perOrder = (kind: keyof Bytes) => (after[kind] - bytes[kind]) / (placed - before)
  return {
    cells,
    bytes: {
      [orderEvents]: perOrder(orderEvents),
      [paymentEvents]: perOrder(paymentEvents),
      storeLog: perOrder('storeLog'),
      databases: perOrder('databases'),
    },
  }
}
