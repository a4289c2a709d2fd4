import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { startPrometheus } from '@orderflow/stack/internals'
import { atMost, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part } from '../report/part.ts'
import { median, medianRatio, percentile } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { untilCaughtUp } from '../support/caught-up.ts'
import { placeOrders } from '../support/load.ts'
import { orderProcesses } from '../support/order-processes.ts'
import { countProcessorTime } from '../support/process-use.ts'
import { openStream, type Stream } from '../support/stream.ts'

/** A third of the rate that the stack can handle. So orders never wait, and each order causes the same work. */
const rate = 300
const observers = ['prometheus', 'exporter']

const everySubscription: [group: string, topic: string][] = [
  ['payment-service', orderEvents],
  ['order-service', orderEvents],
  ['order-service', paymentEvents],
]

interface Sample {
  /** Microseconds of processor time per paid order. */
  stack: number
  observers: number
  p99: number
}

export const metrics: Part = {
  title: `${rate} orders per second until they are paid, with and without a scrape every ten seconds`,

  measure: (run) =>
    withBenchStack(orderProcesses, run.tell, async (stack) => {
      const { rounds, seconds } = run.quick ? { rounds: 1, seconds: 5 } : { rounds: 9, seconds: 20 }
      const stream = openStream(stack.kafka)
      const contenders = [
        { name: 'not scraped', isObserved: false },
        { name: 'scraped', isObserved: true },
      ]
      run.tell('warming up')
      await observe(stack, true)
      await sample(stack, stream, Math.min(5, seconds))
      const samples = await inTurn(run, contenders, rounds, async ({ isObserved }) => {
        await observe(stack, isObserved)
        return sample(stack, stream, seconds)
      })
      await stream.close()
      return findings([...samples].map(([{ name }, found]) => ({ name, samples: found })))
    }),
}

async function observe(stack: BenchStack, isObserved: boolean): Promise<void> {
  const { folder, ports } = stack.plan
  if (isObserved) await startPrometheus(folder, ports, { onProgress: () => {} })
  else await stack.stop(observers.map((name) => ({ name, command: '', args: [], env: {}, ports: {} })))
}

async function sample(stack: BenchStack, stream: Stream, seconds: number): Promise<Sample> {
  const used = countProcessorTime(stack.plan.folder)
  const placed = await placeOrders(stack.ordersUrl, rate, seconds)
  await untilCaughtUp(stack, stream, everySubscription, [])
  const times = Object.entries(used())
  const perOrder = (isCounted: (name: string) => boolean) =>
    times.filter(([name]) => isCounted(name)).reduce((sum, [, ms]) => sum + ms, 0) * (1_000 / placed.length)
  return {
    stack: perOrder((name) => !observers.includes(name)),
    observers: perOrder((name) => observers.includes(name)),
    p99: percentile(
      placed.map(({ due, answered }) => answered - due),
      0.99,
    ),
  }
}

const stackOf = (samples: Sample[] = []) => samples.map(({ stack }) => stack)

function findings(contenders: { name: string; samples: Sample[] }[]): Findings {
  const [bare] = contenders
  const summaries = contenders.map(({ name, samples }) => ({
    name,
    stack: median(stackOf(samples)),
    observers: median(samples.map((each) => each.observers)),
    p99: median(samples.map(({ p99 }) => p99)),
    ratio: medianRatio(stackOf(samples), stackOf(bare?.samples)),
    samples,
  }))
  const scraped = summaries.at(-1)
  return {
    tables: [
      {
        title: 'Medians of the rounds; each ratio is the median of the ratios of single rounds',
        head: ['', 'µs of processor time per order: stack', 'ratio', 'observers', 'p99 ms'],
        rows: summaries.map(({ name, stack, ratio, observers, p99 }) => [
          name,
          number(stack),
          number(ratio, 3),
          number(observers),
          number(p99),
        ]),
      },
    ],
    goals: [
      atMost('processor time of the stack per order, scraped / not scraped', scraped?.ratio ?? Number.NaN, 1.01, 3),
    ],
    figures: summaries,
  }
}
