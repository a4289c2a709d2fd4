import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { orderEvents as input } from '@orderflow/envelope-schema'
import { atLeast, atMost, type Findings, mebibytes, number } from '../report/findings.ts'
import { inTurn, type Part, type Run } from '../report/part.ts'
import { median, medianOf, medianRatio, percentile } from '../report/statistics.ts'
import { answerBacklog, untilCaughtUp } from '../support/backlog.ts'
import { type BenchStack, stores, withBenchStack } from '../support/bench-stack.ts'
import { orderEvents } from '../support/events.ts'
import { placeOrders, postOrders } from '../support/load.ts'
import {
  countArmed,
  endsOf,
  type Fired,
  fill,
  launch,
  orderSpecs,
  untilHandled,
  watchFiring,
} from '../support/open-deadlines.ts'
import { countProcessorTime } from '../support/process-use.ts'

const dayMs = 24 * 3_600_000
const postsPerSecond = 100

/** payment-service pays the first orders, and is then stopped. So the deadlines of all other orders stay open. */
export const deadlinesPart: Part = {
  title: 'deadlines of order-service: rates, idle cost, memory, and many that are due at once',

  async measure(run) {
    const [some, many, most] = run.quick ? [2_000, 2_000, 4_000] : [20_000, 100_000, 1_000_000]
    const rates: Rates[] = []
    for (const [store, parts] of stores)
      rates.push(await withBenchStack(parts, run.tell, (stack) => measureRates(run, stack, store, some)))
    const pairs = await withBenchStack(['kafka'], run.tell, (stack) => compare(run, stack))
    const burst = await withBenchStack(['kafka'], run.tell, (stack) => measureBurst(run, stack, many))
    const memory: Memory[] = []
    // Each order has two deadlines.
    for (const count of [many / 2, most / 2])
      memory.push(await withBenchStack(['kafka'], run.tell, (stack) => measureMemory(run, stack, count)))
    return findings(rates, pairs, burst, memory)
  },
}

interface Rates extends Pick<Fired, 'fired' | 'decided'> {
  store: string
  paid: number
  armed: number
}

async function measureRates(run: Run, stack: BenchStack, store: string, count: number): Promise<Rates> {
  const payments = ['payment-service', 'payment-sidecar'].map(stack.specOf)
  stack.launch(payments)
  await answerBacklog(stack, payments, orderEvents(count / 4))
  const paid = await answerBacklog(stack, payments, orderEvents(count))
  await stack.stop(payments)
  for (const topic of [input, 'paymentevents']) await stack.stream.empty(topic)

  const orders = orderSpecs(stack)
  await launch(stack, orders)
  const arm = async (amount: number) => {
    stack.signal(orders, 'SIGSTOP')
    await stack.stream.publish(input, orderEvents(amount))
    stack.signal(orders, 'SIGCONT')
    const begunAt = performance.now()
    await untilHandled(stack, orders)
    return (2_000 * amount) / (performance.now() - begunAt)
  }
  await arm(count / 4)
  const armed = await arm(count)
  await stack.stop(orders)
  await stack.stream.empty(input)

  const { specs } = await fill(stack, run.tell, count, () => Date.now() - dayMs)
  const before = await endsOf(stack)
  await launch(stack, specs)
  const { fired, decided } = await watchFiring(stack, specs, count, before)
  await stack.stop(specs)
  const rates = { store, paid, armed, fired, decided }
  run.tell(JSON.stringify(rates))
  return rates
}

interface PairSample {
  perSecond: number
  /** The share of a core that order-service and its sidecar use without requests, in percent. */
  idle: number
}
type Pairs = { name: string; samples: PairSample[] }[]

/** Compares order-service with and without its deadlines. */
async function compare(run: Run, stack: BenchStack): Promise<Pairs> {
  const { rounds, seconds, idleSeconds } = run.quick
    ? { rounds: 1, seconds: 2, idleSeconds: 2 }
    : { rounds: 5, seconds: 8, idleSeconds: 40 }
  const variants = [
    { name: 'with deadlines', specs: orderSpecs(stack) },
    { name: 'without deadlines', specs: orderSpecs(stack, { DEADLINES: 'off' }) },
  ]
  return inTurn(run, variants, rounds, async ({ specs }) => {
    const load = async () => {
      const { perSecond } = await postOrders(stack.ordersUrl, { connections: 256, seconds })
      await untilCaughtUp(stack, specs, ['order-service', input])
      return perSecond
    }
    await launch(stack, specs)
    await load()
    const perSecond = await load()
    await delay(2_000)
    const used = countProcessorTime(stack.plan.folder)
    await delay(idleSeconds * 1_000)
    const ms = used()
    await stack.stop(specs)
    const idleMs = specs.reduce((sum, { name }) => sum + (ms[name] ?? Number.NaN), 0)
    return { perSecond, idle: idleMs / (10 * idleSeconds) }
  })
}

interface Burst extends Fired {
  count: number
  /** Seconds of the rebuild that armed the deadlines. */
  rebuildSeconds: number
  /** The p99 of POST in milliseconds, while deadlines pass and without. */
  during: number
  without: number
  /** Seconds from the start of order-service, after a day of outage, until the last decision. */
  daySeconds: number
}

/** All deadlines are due when order-service starts. */
async function measureBurst(run: Run, stack: BenchStack, count: number): Promise<Burst> {
  const [warmUpMs, seconds] = run.quick ? [1_000, 5] : [10_000, 40]
  const { specs, seconds: rebuildSeconds } = await fill(stack, run.tell, count, () => Date.now() - dayMs)
  const { entries, different } = countArmed(stack.database('order'))
  if (entries !== 2 * count || different !== entries)
    throw new Error(`${entries} deadlines are armed, ${different} different ones, for ${count} orders`)
  const before = await endsOf(stack)
  const post = () => placeOrders(stack.ordersUrl, postsPerSecond, seconds)
  const p99 = (placed: Awaited<ReturnType<typeof post>>) =>
    percentile(
      placed.map(({ due, answered }) => answered - due),
      0.99,
    )
  await launch(stack, specs)
  const placed = await post()
  const fired = await watchFiring(stack, specs, count, before)
  const isDuring = (at: number) => at > fired.firstAt + warmUpMs && at < fired.lastAt
  const during = p99(placed.filter(({ due }) => isDuring(due + performance.timeOrigin)))
  const without = p99(await post())
  await stack.stop(specs)
  await stack.stream.empty(input)

  const some = Math.round(count / 10)
  await fill(stack, run.tell, some, (index) => Date.now() - (dayMs * (index + 1)) / some)
  const ends = await endsOf(stack)
  const begunAt = Date.now()
  await launch(stack, specs)
  const day = await watchFiring(stack, specs, some, ends)
  await stack.stop(specs)
  return { ...fired, count, rebuildSeconds, during, without, daySeconds: (day.lastAt - begunAt) / 1_000 }
}

interface Memory {
  count: number
  used: number
  resident: number
}

async function measureMemory(run: Run, stack: BenchStack, count: number): Promise<Memory> {
  const file = join(stack.plan.folder, 'memory.json')
  await fill(stack, run.tell, count, (index) => Date.now() + dayMs * (1 + (index % 30)))
  const specs = orderSpecs(stack, { MEMORY_FILE: file })
  await launch(stack, specs)
  await postOrders(stack.ordersUrl, { connections: 16, amount: 2_000 })
  await untilHandled(stack, specs)
  const samples: NodeJS.MemoryUsage[] = []
  for (let sample = 0; sample < 3; sample += 1) {
    rmSync(file, { force: true })
    await delay(run.quick ? 1_000 : 10_000)
    stack.signal(specs.slice(0, 1), 'SIGUSR2')
    await stack.wait('the memory', specs, async () => {
      const text = readFileSync(file, { encoding: 'utf8', flag: 'a+' })
      if (!text.endsWith('}')) return 'it is not written'
      samples.push(JSON.parse(text) as NodeJS.MemoryUsage)
      return undefined
    })
  }
  await stack.stop(specs)
  const used = medianOf(samples, ({ heapUsed, external }) => heapUsed + external)
  return { count, used, resident: medianOf(samples, ({ rss }) => rss) }
}

function findings(rates: Rates[], pairs: Pairs, burst: Burst, memory: Memory[]): Findings {
  const [own, others] = pairs.map(({ samples }) => samples) as [PairSample[], PairSample[]]
  const perSecond = (samples: PairSample[]) => samples.map((sample) => sample.perSecond)
  const ratio = medianRatio(perSecond(own), perSecond(others))
  const idle = median(own.map((sample, round) => sample.idle - (others[round]?.idle ?? Number.NaN)))
  const [less, more] = memory as [Memory, Memory]
  const growth = 100 * (more.used / less.used - 1)
  return {
    tables: [
      {
        title: 'Per second; each order arms two deadlines',
        head: ['', 'payments', 'armed', 'fired', 'decided'],
        rows: rates.map(({ store, ...row }) => [
          store,
          ...[row.paid, row.armed, row.fired, row.decided].map((value) => number(value)),
        ]),
      },
      {
        title:
          'order-service with SQLite, medians; the share of a core is that of the service and its sidecar without requests',
        head: ['', 'POST/s', 'idle, % of a core'],
        rows: pairs.map(({ name, samples }) => [
          name,
          number(median(perSecond(samples))),
          number(
            medianOf(samples, (sample) => sample.idle),
            2,
          ),
        ]),
      },
      {
        title: `${number(burst.count)} deadlines due at once with SQLite, and ${postsPerSecond} POST/s; a day of outage with ${number(burst.count / 10)} deadlines`,
        head: ['', 'measured'],
        rows: [
          ['rebuild that arms them, s', number(burst.rebuildSeconds)],
          ['until the last decision, s', number((burst.lastAt - burst.firstAt) / 1_000, 1)],
          ['p99 of POST meanwhile, ms', number(burst.during, 1)],
          ['p99 of POST without, ms', number(burst.without, 1)],
          ['from the start to the last decision after a day, s', number(burst.daySeconds, 1)],
        ],
      },
      {
        title: 'Memory of order-service in MiB after a garbage collection',
        head: ['open deadlines', 'heap and external', 'resident'],
        rows: memory.map(({ count, used, resident }) => [number(2 * count), mebibytes(used), mebibytes(resident)]),
      },
    ],
    goals: [
      ...rates.flatMap(({ store, paid, armed, fired, decided }) =>
        Object.entries({ armed, fired, decided }).map(([name, value]) =>
          atLeast(`${name} / payments, ${store}`, value / paid, 0.5, 2),
        ),
      ),
      atLeast('POST with / without deadlines', ratio, 0.98, 3),
      atMost('idle cost of deadlines, % of a core', idle, 1, 2),
      atMost('p99 of POST during / without', burst.during / burst.without, 2, 2),
      atMost('after a day, s', burst.daySeconds, 30),
      atMost('more memory with ten times the deadlines, %', growth, 10, 1),
    ],
    figures: { rates, pairs, burst, memory },
  }
}
