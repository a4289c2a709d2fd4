import { setTimeout as delay } from 'node:timers/promises'
import { entryOf, type ProcessSpec, serviceMissing } from '@orderflow/cli'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { untilCaughtUp } from '../support/caught-up.ts'
import { placeOrders, postOrders } from '../support/load.ts'
import { readMeters } from './meter.ts'
import type { Cell, Sizes } from './payments.ts'
import { type Bytes, bytesOf, type Site } from './site.ts'

const connections = 256

/** Measures the path of an order through both services, with one replica of each. The load `loop` comes from clients that wait for each answer. */
export async function measureOrders(site: Site, sizes: Sizes): Promise<{ cells: Cell[]; bytes: Bytes }> {
  const { stack, stream, store } = site
  await store.empty()
  const specs: ProcessSpec[] = ['order-service', 'order-sidecar', 'payment-service', 'payment-sidecar'].map(
    stack.specOf,
  )
  let placed = 0

  async function untilPaid(): Promise<void> {
    await stack.wait('all orders to be Paid', specs, async () => {
      await delay(50)
      const paid = await store.count('order-service', '/PaymentApproved')
      return paid < placed ? `${paid} of ${placed} are` : undefined
    })
    await untilCaughtUp(stack, stream, [['order-service', orderEvents]], specs)
  }

  async function measure(load: string, post: () => Promise<number>): Promise<Cell> {
    const end = await readMeters(stack, specs)
    const events = await post()
    placed += events
    await untilPaid()
    const reading = await end()
    return { load, replicas: 1, events, perSecond: events / reading.seconds, ...reading }
  }

  const steadily = (rate: number) =>
    measure(String(rate), async () => {
      if (rate === 0) await delay(sizes.steadySeconds * 1_000)
      const orders = await placeOrders(stack.ordersUrl, rate, sizes.steadySeconds)
      const accepted = orders.filter(({ id }) => id !== undefined).length
      if (accepted < orders.length) throw new Error(`${orders.length - accepted} requests failed`)
      return accepted
    })
  const closed = (amount: number) =>
    measure('loop', async () => (await postOrders(stack.ordersUrl, { connections, amount })).answered)

  stack.launch(specs)
  const { http } = entryOf(stack.plan.ports.services, 'order-service')
  await stack.wait('order-service', specs, () => serviceMissing('order-service', http))
  await closed(sizes.warmUp)
  const bytes = await bytesOf(site)
  const before = placed
  const cells: Cell[] = []
  for (const rate of [0, ...sizes.rates.map((each) => each / 2)]) cells.push(await steadily(rate))
  cells.push(await closed(sizes.backlog / 2))
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
