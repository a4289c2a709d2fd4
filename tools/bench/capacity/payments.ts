import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { paymentEvents } from '@orderflow/envelope-schema'
import { paymentIdOf } from '@orderflow/payment-service/payment'
import { serviceNamed } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { membersMissing, membersOf, type ProcessSpec } from '@orderflow/stack/internals'
import { patientSpec } from '../support/contenders.ts'
import { publishOrders } from '../support/events.ts'
import { ledgerOf, requireComplete } from '../support/ledger.ts'
import { paymentReplica } from '../support/programs.ts'
import { distance } from '../support/stream.ts'
import { type Reading, readMeters, undisturbed } from './meter.ts'
import type { Site } from './site.ts'

/** A measured load. `none` has no replicas. `idle` has no events. Replicas handle the other loads as fast as possible. */
export interface Cell extends Reading {
  load: string
  replicas: number
  /** Events that were handled meanwhile. */
  events: number
  perSecond: number
}

export interface Sizes {
  rounds: number
  /** Events for each replica before measuring, because V8 compiles code only after some time. */
  warmUp: number
  events: number
  idleSeconds: number
}

const group = 'payment-service'
/** Frequent checks would cost processor time. */
const lookMs = 50

/** Starts this number of replicas on an empty store, and measures them. */
export async function measurePayments(site: Site, replicas: number, sizes: Sizes): Promise<Cell[]> {
  await site.store.empty()
  const alone = replicas === 1 ? [await idle(site, 'none', 0, [], sizes)] : []
  const cells = await measureStarted(site, await replicaSpecs(site, replicas), 'backlog', sizes)
  if (replicas > 1) return cells
  // The same events in smaller deliveries need more calls. The difference is the cost of a call.
  await site.store.empty()
  const small = (await replicaSpecs(site, 1)).map((spec) => withDeliveriesOf(site, spec, smallDelivery))
  return [...alone, ...cells, ...(await measureStarted(site, small, 'small deliveries', sizes))]
}

const smallDelivery = 50

async function replicaSpecs({ stack }: Site, replicas: number): Promise<ProcessSpec[]> {
  const specs: ProcessSpec[] = []
  for (let number = 1; number <= replicas; number += 1) {
    for (const spec of await paymentReplica(stack, number)) specs.push(patientSpec(spec))
  }
  return specs
}

/** Lets a sidecar load a copy of the components with smaller deliveries. */
function withDeliveriesOf({ stack }: Site, spec: ProcessSpec, events: number): ProcessSpec {
  const usual = join(repository, 'components')
  const copy = join(stack.plan.folder, `components-${events}`)
  mkdirSync(copy, { recursive: true })
  for (const file of readdirSync(usual).filter((name) => name.endsWith('.yaml'))) {
    const text = readFileSync(join(usual, file), 'utf8')
    writeFileSync(join(copy, file), text.replaceAll(/maxMessagesCount: \d+/g, `maxMessagesCount: ${events}`))
  }
  return { ...spec, args: spec.args.map((arg) => (arg === usual ? copy : arg)) }
}

async function idle(
  { stack }: Site,
  load: string,
  replicas: number,
  specs: ProcessSpec[],
  sizes: Sizes,
): Promise<Cell> {
  const end = (await readMeters(stack, specs))()
  await delay(sizes.idleSeconds * 1_000)
  return { load, replicas, events: 0, perSecond: 0, ...(await end()) }
}

async function measureStarted(site: Site, specs: ProcessSpec[], load: string, sizes: Sizes): Promise<Cell[]> {
  const { stack, stream, store } = site
  const replicas = specs.length / 2
  const from = await stream.ends(paymentEvents)
  const orders: string[] = []

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
    const begin = await readMeters(stack, specs)
    stack.signal(specs, 'SIGSTOP')
    for (const id of await publishOrders(stream, count)) orders.push(id)
    const end = begin()
    stack.signal(specs, 'SIGCONT')
    await untilPaid(before, count)
    const reading = await end()
    return { load, replicas, events: count, perSecond: count / reading.seconds, ...reading }
  }

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
  const cells = replicas === 1 ? [await idle(site, 'idle', replicas, specs, sizes)] : []
  cells.push(await undisturbed(site.tell, () => payBacklog(sizes.events)))

  const stored = (await store.stored(group, 'payment/')).map(({ key }) => key.split('/').at(-1) ?? '')
  requireComplete('payments', ledgerOf(orders.map(paymentIdOf), stored))
  const ends = await stream.ends(paymentEvents)
  requireComplete('announcements', ledgerOf(orders, await stream.keys(paymentEvents, from, ends)))
  await stack.stop(specs)
  return cells
}
