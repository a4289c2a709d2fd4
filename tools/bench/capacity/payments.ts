import { setTimeout as delay } from 'node:timers/promises'
import { membersMissing, membersOf, type ProcessSpec, serviceNamed } from '@orderflow/cli'
import { paymentEvents } from '@orderflow/envelope-schema'
import { paymentIdOf } from '@orderflow/payment-service/store'
import { patientSpec } from '../support/contenders.ts'
import { publishOrders } from '../support/events.ts'
import { ledgerOf, requireComplete } from '../support/ledger.ts'
import { paymentReplica } from '../support/programs.ts'
import { distance } from '../support/stream.ts'
import { type Reading, readMeters } from './meter.ts'
import type { Site } from './site.ts'

/** A measured load. The load `backlog` waits in Kafka before it is handled; other loads arrive at a steady rate. */
export interface Cell extends Reading {
  load: string
  replicas: number
  /** Events that were handled meanwhile. */
  events: number
  perSecond: number
}

export interface Sizes {
  /** Events for each replica before measuring, because V8 compiles code only after some time. */
  warmUp: number
  backlog: number
  steadySeconds: number
  /** Steady loads in events per second. */
  rates: number[]
}

const group = 'payment-service'
/** Frequent checks would cost processor time. */
const lookMs = 50

/** Starts this number of replicas on an empty store, and measures them. With one replica, also measures smaller loads. */
export async function measurePayments(site: Site, replicas: number, sizes: Sizes): Promise<Cell[]> {
  const { stack, stream, store } = site
  await store.empty()
  const from = await stream.ends(paymentEvents)
  const specs: ProcessSpec[] = []
  for (let number = 1; number <= replicas; number += 1) {
    for (const spec of await paymentReplica(stack, number)) specs.push(patientSpec(spec))
  }
  const orders: string[] = []
  const cells: Cell[] = []

  async function untilPaid(before: bigint[], count: number, running = specs): Promise<void> {
    await stack.wait(`${count} payments`, running, async () => {
      await delay(lookMs)
      const announced = distance(before, await stream.ends(paymentEvents))
      return announced < count ? `${announced} are announced` : undefined
    })
  }

  /** Publishes while the replicas are stopped, so that they find all events when they continue. */
  async function payBacklog(count: number): Promise<Cell> {
    const before = await stream.ends(paymentEvents)
    stack.signal(specs, 'SIGSTOP')
    for (const id of await publishOrders(stream, count)) orders.push(id)
    stack.signal(specs, 'SIGCONT')
    const end = await readMeters(stack, specs)
    await untilPaid(before, count)
    const reading = await end()
    return { load: 'backlog', replicas, events: count, perSecond: count / reading.seconds, ...reading }
  }

  async function withoutReplicas(): Promise<Cell> {
    const end = await readMeters(stack, [])
    await delay(sizes.steadySeconds * 1_000)
    return { load: 'none', replicas: 0, events: 0, perSecond: 0, ...(await end()) }
  }

  async function paySteadily(rate: number): Promise<Cell> {
    const end = await readMeters(stack, specs)
    const begun = performance.now()
    const before = await stream.ends(paymentEvents)
    let sent = 0
    while (performance.now() < begun + sizes.steadySeconds * 1_000) {
      const due = Math.floor(((performance.now() - begun) * rate) / 1_000) - sent
      if (due > 0) for (const id of await publishOrders(stream, due)) orders.push(id)
      sent += due
      await delay(20)
    }
    await untilPaid(before, sent)
    const reading = await end()
    return { load: String(rate), replicas, events: sent, perSecond: sent / reading.seconds, ...reading }
  }

  if (replicas === 1) cells.push(await withoutReplicas())

  // The first sidecar must create the tables before other sidecars start.
  stack.launch(specs.slice(0, 2))
  const before = await stream.ends(paymentEvents)
  for (const id of await publishOrders(stream, 1)) orders.push(id)
  await untilPaid(before, 1, specs.slice(0, 2))
  stack.launch(specs.slice(2))
  await stack.wait(`${replicas} replicas`, specs, () =>
    membersMissing(stack.kafka, group, replicas * membersOf(serviceNamed(group))),
  )
  await payBacklog(sizes.warmUp * replicas)
  if (replicas === 1) for (const rate of [0, ...sizes.rates]) cells.push(await paySteadily(rate))
  cells.push(await payBacklog(sizes.backlog))

  const stored = (await store.stored(group, 'payment/')).map(({ key }) => key.split('/').at(-1) ?? '')
  requireComplete('payments', ledgerOf(orders.map(paymentIdOf), stored))
  const ends = await stream.ends(paymentEvents)
  requireComplete('announcements', ledgerOf(orders, await stream.keys(paymentEvents, from, ends)))
  await stack.stop(specs)
  return cells
}
