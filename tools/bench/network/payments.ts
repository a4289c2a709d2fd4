import { setTimeout as delay } from 'node:timers/promises'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { paymentIdOf } from '@orderflow/payment-service/payment'
import { membersMissing, type ProcessSpec } from '@orderflow/stack/internals'
import type { BenchStack } from '../support/bench-stack.ts'
import { publishOrders } from '../support/events.ts'
import { type Ledger, ledgerOf } from '../support/ledger.ts'
import { countBusyShare, countProcessorTime, type ProcessorTime } from '../support/process-use.ts'
import { openStore } from '../support/store.ts'
import { distance, type Stream } from '../support/stream.ts'
import { consumersOf, empty, replica, type Site, sqliteFile, type Variant } from './system.ts'

export interface Cell {
  variant: string
  replicas: number
  roundTrip: number
  events: number
  perSecond: number
  /** The busy share of the machine’s processors. */
  busy: number
  used: ProcessorTime
}

export interface Aftermath {
  stored: Ledger
  announced: Ledger
  /** The number of orders that have several different announcements of their payment. */
  versions: number
}

export interface Started {
  cells: Cell[]
  aftermath: Aftermath
}

const lookMs = 40
const group = 'payment-service'
const payment = 'payment/'

/** Starts replicas on an empty store and measures the payments of this number of events at each round trip. */
export async function payAt(
  site: Site,
  variant: Variant,
  replicas: number,
  roundTrips: number[],
  events: number,
): Promise<Started> {
  const { stack, stream, proxy } = site
  await proxy.setRoundTrip(0)
  await empty(stack, variant)
  const from = await stream.ends(paymentEvents)
  const specs: ProcessSpec[] = []
  for (let number = 1; number <= replicas; number += 1) {
    for (const spec of await replica(site, variant, number)) specs.push(spec)
  }
  // The first sidecar must create the tables before other sidecars start.
  stack.launch(specs.slice(0, 2))
  let orders = await publishOrders(stream, 1)
  await announced(stack, stream, specs.slice(0, 2), from, 1)
  stack.launch(specs.slice(2))
  await stack.wait(`${replicas} replicas`, specs, () =>
    membersMissing(stack.kafka, group, replicas * consumersOf(variant)),
  )
  const warmUp = await stream.ends(paymentEvents)
  orders = orders.concat(await publishOrders(stream, Math.min(3_000, events)))
  await announced(stack, stream, specs, warmUp, orders.length - 1)

  const cells: Cell[] = []
  for (const roundTrip of roundTrips) {
    await proxy.setRoundTrip(roundTrip)
    const before = await stream.ends(paymentEvents)
    orders = orders.concat(await publishOrders(stream, events))
    const measured = await announced(stack, stream, specs, before, events)
    cells.push({ variant: variant.name, replicas, roundTrip, events, ...measured })
  }
  await proxy.setRoundTrip(0)
  await stack.wait('the offsets to be committed', specs, async () => {
    const lag = await stream.lag(orderEvents, group)
    return lag > 0 ? `${lag} are not` : undefined
  })
  const aftermath = await aftermathOf(stack, stream, variant, orders, from)
  await stack.stop(specs)
  return { cells, aftermath }
}

/** Waits until this number of payments is announced. Measures from the first check that finds a payment. */
async function announced(
  stack: BenchStack,
  stream: Stream,
  specs: ProcessSpec[],
  before: bigint[],
  events: number,
): Promise<Pick<Cell, 'perSecond' | 'busy' | 'used'>> {
  const begin = (count: number) => ({
    at: performance.now(),
    count,
    busy: countBusyShare(),
    used: countProcessorTime(stack.plan.folder),
  })
  let first: ReturnType<typeof begin> | undefined
  await stack.wait(`${events} payments`, specs, async () => {
    // Frequent checks would cost processor time.
    await delay(lookMs)
    const count = distance(before, await stream.ends(paymentEvents))
    if (count > 0) first ??= begin(count)
    return count < events ? `${count} are announced` : undefined
  })
  if (!first) throw new Error('nothing was paid')
  const seconds = (performance.now() - first.at) / 1_000
  return { perSecond: (events - first.count) / seconds, busy: first.busy(), used: first.used() }
}

async function aftermathOf(
  stack: BenchStack,
  stream: Stream,
  variant: Variant,
  orders: string[],
  from: bigint[],
): Promise<Aftermath> {
  const { store } = variant
  const stored = store === 'sqlite' ? sqlitePayments(stack) : (await store.stored(group, payment)).map(({ key }) => key)
  const records = await stream.records(paymentEvents, from, await stream.ends(paymentEvents))
  const texts = new Map<string, string>()
  const differing = new Set<string>()
  for (const { key, value } of records) {
    const text = value.toString()
    if ((texts.get(key) ?? text) !== text) differing.add(key)
    texts.set(key, text)
  }
  const keys = records.map(({ key }) => key)
  return {
    stored: ledgerOf(
      orders.map(paymentIdOf),
      stored.map((key) => key.split('/').at(-1) ?? ''),
    ),
    announced: ledgerOf(orders, keys),
    versions: differing.size,
  }
}

function sqlitePayments(stack: BenchStack): string[] {
  const store = openStore(sqliteFile(stack))
  const keys = store.news({ key: `%${payment}%` })
  store.close()
  return keys
}
