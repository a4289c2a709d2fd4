import { orderEvents } from '@orderflow/envelope-schema'
import { entryOf } from '@orderflow/stack'
import { serviceMissing } from '@orderflow/stack/internals'
import { percentile } from '../report/statistics.ts'
import { untilCaughtUp } from '../support/caught-up.ts'
import { type PlacedOrder, placeOrders, postOrders } from '../support/load.ts'
import { countBusyShare } from '../support/process-use.ts'
import type { Store } from './store.ts'
import { type Site, type StoredVariant, specOf } from './system.ts'

const connections = 256
export const steadyRate = 300
const order = 'order/'
/** An order with this text is Paid. */
const paid = 'PaymentApproved'

export interface OrderCell {
  roundTrip: number
  /** The accepted orders per second, while payment-service is stopped. */
  postPerSecond: number
  postBusy: number
  loopPerSecond: number
  /** Milliseconds from an order’s due time until it is Paid, or NaN if the store has no times. */
  paidP50: number
  paidP99: number
  /** The number of failed requests. The run itself fails if an answered order is not Paid. */
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

/** Durations in seconds. */
export interface Durations {
  /** The time before measuring. Programs with a just-in-time compiler are slow at first. */
  warmUp: number
  /** The measured time at the steady rate, for each round trip. */
  steady: number
  /** The measured time at the full rate, for each round trip. */
  full: number
}

/** Measures both services at each round trip, with one replica each and an empty store. */
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
  const countPaid = () => store.count('order-service', order, paid)
  const untilPaid = (count: number) =>
    stack.wait('all orders to be Paid', all, async () => {
      const found = await countPaid()
      return found < count ? `${found} of ${count} are` : undefined
    })

  /** Waits until order-service has consumed the events of all orders, because this work would affect the next measurement. */
  const untilRead = () => untilCaughtUp(stack, stream, [['order-service', orderEvents]], orders)
  const cells = roundTrips.map((roundTrip): OrderCell => ({ ...unmeasured, roundTrip }))
  let placed = 0
  /** Measures one kind of load at each round trip. Measure the full load last, because it would disturb the steady load. */
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
    const found = await store.count('order-service', order)
    return found < placed ? `${found} of ${placed} are` : undefined
  })
  await stack.stop(orders)
  return cells
}

async function delaysOf(store: Store, orders: PlacedOrder[]): Promise<number[]> {
  const paidAt = new Map(
    (await store.stored('order-service', order, paid)).map(({ key, at }) => [key.split('/').at(-1), at]),
  )
  return orders.map(({ id, due }) => (paidAt.get(id) ?? Number.NaN) - (performance.timeOrigin + due))
}

/** Returns the time of the last payment, in milliseconds since 1970. */
async function lastPaid(store: Store): Promise<number> {
  const times = (await store.stored('order-service', order, paid)).map(({ at }) => at)
  return times.reduce((last, at) => Math.max(last, at), 0) || Date.now()
}
