import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { processNames, startPrometheus } from '@orderflow/stack/parts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { atLeast, type Findings, number } from '../support/findings.ts'
import { postOrders } from '../support/load.ts'
import { inTurn, type Part } from '../support/part.ts'
import { countProcessorTime } from '../support/process-use.ts'
import { median } from '../support/statistics.ts'
import { openStream, type Stream } from '../support/stream.ts'

const connections = 64
const observers = ['prometheus', 'exporter']

interface Sample {
  /** Orders from the first request until the last one was paid. */
  perSecond: number
  /** Microseconds of processor time of the whole stack per order, and of what observes it. */
  stack: number
  observers: number
}

/**
 * What does it cost to be scraped? The same stack takes orders until all are paid, with Prometheus and the exporter beside it, as `make
 * observe` starts them, and without.
 */
export const metrics: Part = {
  title: `orders until they are paid, ${connections} connections, scraped every ten seconds and not`,

  measure: (run) =>
    withBenchStack(processNames, run.tell, async (stack) => {
      const { rounds, seconds } = run.quick ? { rounds: 1, seconds: 5 } : { rounds: 9, seconds: 15 }
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
  const begun = performance.now()
  const { answered } = await postOrders(stack.ordersUrl, { connections, seconds })
  await stack.wait('all orders to be paid', [], async () => {
    const lags = await Promise.all([
      stream.lag(orderEvents, 'payment-service'),
      stream.lag(orderEvents, 'order-service'),
      stream.lag(paymentEvents, 'order-service'),
    ])
    const lag = Math.max(...lags)
    return lag > 0 ? `${lag} events behind` : undefined
  })
  const tookMs = performance.now() - begun
  const times = Object.entries(used())
  const perOrder = (isCounted: (name: string) => boolean) =>
    times.filter(([name]) => isCounted(name)).reduce((sum, [, ms]) => sum + ms, 0) * (1_000 / answered)
  return {
    perSecond: (answered * 1_000) / tookMs,
    stack: perOrder((name) => !observers.includes(name)),
    observers: perOrder((name) => observers.includes(name)),
  }
}

function findings(contenders: { name: string; samples: Sample[] }[]): Findings {
  const [bare] = contenders
  const summaries = contenders.map(({ name, samples }) => {
    // Of each round by itself: its loads had the machine at the same time.
    const ratio = (of: (sample: Sample) => number) =>
      median(samples.map((each, round) => of(each) / of(bare?.samples[round] ?? each)))
    return {
      name,
      perSecond: median(samples.map(({ perSecond }) => perSecond)),
      stack: median(samples.map(({ stack }) => stack)),
      observers: median(samples.map((each) => each.observers)),
      ratios: { perSecond: ratio(({ perSecond }) => perSecond), stack: ratio(({ stack }) => stack) },
      samples,
    }
  })
  const scraped = summaries.at(-1)
  return {
    tables: [
      {
        title: 'Medians of the rounds',
        head: [
          '',
          'orders/s',
          'of not scraped',
          'µs of processor time per order: stack',
          'of not scraped',
          'observers',
        ],
        rows: summaries.map(({ name, perSecond, stack, observers, ratios }) => [
          name,
          number(perSecond),
          number(ratios.perSecond, 3),
          number(stack),
          number(ratios.stack, 3),
          number(observers),
        ]),
      },
    ],
    goals: [
      atLeast('orders/s, scraped / not scraped', scraped?.ratios.perSecond ?? Number.NaN, 0.99, 3),
      atLeast(
        'processor time of the stack per order, not scraped / scraped',
        1 / (scraped?.ratios.stack ?? 0),
        0.99,
        3,
      ),
    ],
    charts: [],
    figures: summaries,
  }
}
