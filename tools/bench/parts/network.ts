import { localPostgresql } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { addPartitions } from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'
import { startDelayProxy } from '../network/delay-proxy.ts'
import { findingsOf, type Measured, names } from '../network/findings.ts'
import { type OrderCell, orderAt } from '../network/orders.ts'
import { payAt, type Started } from '../network/payments.ts'
import { storeOf } from '../network/store.ts'
import type { Site, Variant } from '../network/system.ts'
import type { Part, Run } from '../report/part.ts'
import { beforeFolder } from '../support/before.ts'
import { withBenchStack } from '../support/bench-stack.ts'
import { openStream } from '../support/stream.ts'
import { delaysFrom, numbersFrom } from '../support/variables.ts'

interface Plan extends Omit<Variant, 'store'> {
  isSqlite: boolean
  replicas: number
  roundTrips: number[]
}

/** RTT="2" and REPLICAS="1" limit the measured cases, BEFORE=folder adds an older checkout, and STORE_URI=... measures a running server. */
export const network: Part = {
  title: 'a store across a network: round trips and replicas',

  async measure(run) {
    const [roundTrips, replicas] = [delaysFrom('RTT', '0 2 10'), numbersFrom('REPLICAS', '1 2 4')]
    const rounds = run.quick ? 1 : 3
    const orders: OrderCell[] = []
    const payments = await measurePayments(run, rounds, roundTrips, replicas)
    for (let round = 1; round <= rounds && replicas.includes(1); round += 1) {
      run.tell(`round ${round} of ${rounds}: orders`)
      // Each round of orders uses a new log, with as many partitions as in a stack of processes. With an old log, order-service would first
      // read all earlier events.
      const seconds = run.quick ? { warmUp: 2, steady: 2, full: 2 } : { warmUp: 15, steady: 20, full: 6 }
      const cells = await withNetwork(run, (site) => orderAt(site, nowAt(site), roundTrips, seconds))
      for (const cell of cells) orders.push(cell)
    }
    return findingsOf({ ...payments, orders })
  },
}

function withNetwork<Result>({ tell }: Run, work: (site: Site) => Promise<Result>): Promise<Result> {
  const uri = process.env.STORE_URI
  return withBenchStack(uri ? ['kafka'] : ['kafka', 'postgresql'], tell, async (stack) => {
    const store = storeOf(uri || localPostgresql(stack.plan.folder, stack.plan.ports.postgresql))
    try {
      if (uri) await store.requireUnused()
      const site = {
        stack,
        store,
        proxy: await startDelayProxy(stack, store.address, tell),
        stream: openStream(stack.kafka),
      }
      const result = await work(site)
      await site.stream.close()
      await store.remove()
      return result
    } finally {
      // An open client would keep this process running after an error.
      await store.close()
    }
  })
}

const nowAt = ({ store }: Site) => ({ name: names.now, root: repository, store })

async function measurePayments(
  run: Run,
  rounds: number,
  roundTrips: number[],
  replicas: number[],
): Promise<Pick<Measured, 'store' | 'pings' | 'started'>> {
  const { kind, pings } = await withNetwork(run, async (site) => ({
    kind: site.store.kind,
    pings: await pingsAt(site, roundTrips, run),
  }))
  const started: Started[] = []
  for (let round = 1; round <= rounds; round += 1) {
    for (const { name, root, isSqlite, replicas: count, roundTrips: chosen } of plansOf(roundTrips, replicas)) {
      run.tell(`round ${round} of ${rounds}: ${name}, ${count} replicas`)
      // Each run has a new log, because a service refuses an empty store if its log has handled events.
      const found = await withNetwork(run, async (site) => {
        // Four replicas need this number of partitions.
        await addPartitions(site.stack.kafka, topics.containers)
        const variant = { name, root, store: isSqlite ? ('sqlite' as const) : site.store }
        return payAt(site, variant, count, chosen, run.quick ? 2_400 : 12_000)
      })
      for (const { roundTrip, perSecond, busy } of found.cells) {
        run.tell(`${roundTrip} ms: ${Math.round(perSecond)} events/s, ${busy.toFixed(2)} busy`)
      }
      started.push(found)
    }
  }
  return { store: storeNames[kind], pings, started }
}

const storeNames = { postgresql: 'PostgreSQL', mongodb: 'MongoDB' }

/** Plans both checkouts next to each other, so that disturbances affect both. */
function plansOf(roundTrips: number[], replicas: number[]): Plan[] {
  const old = beforeFolder()
  const variants = [{ name: names.now, root: repository }, ...(old ? [{ name: names.before, root: old }] : [])]
  const grid = replicas.flatMap((count) =>
    variants.map((variant) => ({ ...variant, isSqlite: false, replicas: count, roundTrips })),
  )
  const loopback = roundTrips.includes(0) && replicas.includes(1)
  return [
    ...grid,
    ...(loopback ? [{ name: names.sqlite, root: repository, isSqlite: true, replicas: 1, roundTrips: [0] }] : []),
  ]
}

async function pingsAt({ store, proxy }: Site, roundTrips: number[], { tell }: Run): Promise<Map<number, number>> {
  const pings = new Map<number, number>()
  for (const roundTrip of roundTrips) {
    await proxy.setRoundTrip(roundTrip)
    const ms = await store.ping(proxy.address)
    pings.set(roundTrip, ms)
    tell(`with a round trip of ${roundTrip} ms, a client measures ${ms.toFixed(2)} ms`)
  }
  return pings
}
