import { entryOf, serviceMissing } from '@orderflow/cli'
import { orderEvents } from '@orderflow/envelope-schema'
import { percentile } from '../report/statistics.ts'
import { untilCaughtUp } from '../support/caught-up.ts'
import { type PlacedOrder, placeOrders, postOrders } from '../support/load.ts'
import { countBusyShare } from '../support/process-use.ts'
import type { Store } from './store.ts'
import { type Site, type StoredVariant, specOf } from './system.ts'

const connections = 256
export const steadyRate = 300
/** The fact by which an order is Paid to whoever reads it. */
const paid = '/PaymentApproved'

/** What one round trip does to orders. */
export interface OrderCell {
  /** Milliseconds. */
  roundTrip: number
  /** Orders a second that are answered, with the payment side stopped. */
  postPerSecond: number
  postBusy: number
  /** Orders a second, from the first POST until the last order is Paid. */
  loopPerSecond: number
  /** Milliseconds from when an order is due at the steady rate until its Paid is being written; NaN where the store has no time. */
  paidP50: number
  paidP99: number
  /** Requests. All orders that were answered are Paid, or the run ends with an error. */
  failed: number
}

const unmeasured = {
  postPerSecond: Number.NaN,
  postBusy: Number.NaN,
  loopPerSecond: Number.NaN,
  paidP50: Number.NaN,
  paidP99: Number.NaN,
  failed: 0,
}

/** Seconds. */
export interface Durations {
  /** At the steady rate before anything is measured: programs that compile themselves as they run take twice the time per order at first. */
  warmUp: number
  /** At the steady rate, at each round trip. */
  steady: number
  /** As fast as orders are answered, at each round trip. */
  full: number
}

/** Lets one order-service and one payment-service take orders at each round trip in turn, on an empty store. */
export async function orderAt(
  site: Site,
  variant: StoredVariant,
  roundTrips: number[],
  seconds: Durations,
): Promise<OrderCell[]> {
  const { stack, stream, store, proxy } = site
  await proxy.setRoundTrip(0)
  await store.empty()
  const specs = (...names: string[]) => names.map((name) => specOf(site, variant, stack.specOf(name)))
  const [orders, payments] = [specs('order-service', 'order-sidecar'), specs('payment-service', 'payment-sidecar')]
  const all = [...orders, ...payments]
  const countPaid = () => store.count('order-service', paid)
  const untilPaid = (count: number) =>
    stack.wait('all orders to be Paid', all, async () => {
      const found = await countPaid()
      return found < count ? `${found} of ${count} are` : undefined
    })

  /** order-service reads all orders once more, after they are Paid: that is nobody else's load. */
  const untilRead = () => untilCaughtUp(stack, stream, [['order-service', orderEvents]], orders)
  const cells = roundTrips.map((roundTrip): OrderCell => ({ ...unmeasured, roundTrip }))
  let placed = 0
  /** At each round trip in turn, of one kind of load after the other: what is steady must not find what a flood left behind. */
  async function atEach(measure: (cell: OrderCell) => Promise<void>) {
    for (const cell of cells) {
      await proxy.setRoundTrip(cell.roundTrip)
      await measure(cell)
      await untilRead()
    }
  }

  stack.launch(all)
  const { http } = entryOf(stack.plan.ports.services, 'order-service')
  await stack.wait('order-service', all, () => serviceMissing('order-service', http))
  placed += (await placeOrders(stack.ordersUrl, steadyRate, seconds.warmUp)).length
  await untilPaid(placed)
  await atEach(async (cell) => {
    const steady = await placeOrders(stack.ordersUrl, steadyRate, seconds.steady)
    const accepted = steady.filter(({ id }) => id !== undefined)
    placed += accepted.length
    await untilPaid(placed)
    const delays = await delaysOf(store, accepted)
    cell.paidP50 = percentile(delays, 0.5)
    cell.paidP99 = percentile(delays, 0.99)
    cell.failed += steady.length - accepted.length
  })
  await atEach(async (cell) => {
    const load = await postOrders(stack.ordersUrl, { connections, amount: 500 * seconds.full })
    placed += load.answered
    await untilPaid(placed)
    cell.loopPerSecond = (load.answered * 1_000) / ((await lastPaid(store)) - load.startedAt)
    cell.failed += load.failed
  })
  await stack.stop(payments)
  await atEach(async (cell) => {
    const busy = countBusyShare()
    const load = await postOrders(stack.ordersUrl, { connections, seconds: seconds.full })
    placed += load.answered
    cell.postPerSecond = load.perSecond
    cell.postBusy = busy()
    cell.failed += load.failed
  })
  await proxy.setRoundTrip(0)
  await stack.wait('all orders to be stored', orders, async () => {
    const found = await store.count('order-service', '/OrderCreated')
    return found < placed ? `${found} of ${placed} are` : undefined
  })
  await stack.stop(orders)
  return cells
}

async function delaysOf(store: Store, orders: PlacedOrder[]): Promise<number[]> {
  const paidAt = new Map((await store.stored('order-service', paid)).map(({ key, at }) => [key.split('/').at(-2), at]))
  return orders.map(({ id, due }) => (paidAt.get(id) ?? Number.NaN) - (performance.timeOrigin + due))
}

/** Milliseconds since 1970. */
async function lastPaid(store: Store): Promise<number> {
  const times = (await store.stored('order-service', paid)).map(({ at }) => at)
  return times.reduce((last, at) => Math.max(last, at), 0) || Date.now()
}
