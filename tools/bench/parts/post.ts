import { orderEvents } from '@orderflow/envelope-schema'
import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part } from '../report/part.ts'
import { median } from '../report/statistics.ts'
import { withBenchStack } from '../support/bench-stack.ts'
import { untilCaughtUp } from '../support/caught-up.ts'
import { type Load, postOrders } from '../support/load.ts'
import { countProcessorTime } from '../support/process-use.ts'
import { startOrders } from '../support/programs.ts'
import { copyTopic, openStream } from '../support/stream.ts'

const connections = 256

interface Sample extends Load {
  /** The processor time of the program that answers, and of its main thread, in microseconds per request. */
  microseconds: number
  threadMicroseconds: number
}

/** payment-service is stopped. The measured time includes the work of order-service’s own subscription to orders. */
export const post: Part = {
  title: `POST /v1/orders, ${connections} connections`,

  measure: (run) =>
    withBenchStack(['kafka', 'order-service', 'order-sidecar'], run.tell, async (stack) => {
      const { rounds, seconds } = run.quick ? { rounds: 1, seconds: 2 } : { rounds: 5, seconds: 8 }
      const stream = openStream(stack.kafka)
      await copyTopic(stack.kafka, orderEvents, 'naive-orderevents')
      const orderflow = { name: 'orderflow', program: 'order-service', url: stack.ordersUrl }
      const bare = { name: 'bare Express', program: 'bare-orders', url: await startOrders(stack, 'bare-orders') }
      const naive = {
        name: 'naive Dapr',
        program: 'naive-orders',
        url: await startOrders(stack, 'naive-orders', 'naive-orderevents'),
      }

      const contenders = [bare, orderflow, naive]
      run.tell('warming up')
      for (const { url } of contenders) await postOrders(url, { connections, seconds: Math.min(3, seconds) })
      const loads = await inTurn(run, contenders, rounds, async ({ program, url }): Promise<Sample> => {
        await untilCaughtUp(stack, stream, [['order-service', orderEvents]], [stack.specOf('order-sidecar')])
        const [used, threadUsed] = [
          countProcessorTime(stack.plan.folder),
          countProcessorTime(stack.plan.folder, 'mainThreadMs'),
        ]
        const load = await postOrders(url, { connections, seconds })
        const perRequest = (ms = Number.NaN) => (ms * 1_000) / load.answered
        return {
          ...load,
          microseconds: perRequest(used()[program]),
          threadMicroseconds: perRequest(threadUsed()[program]),
        }
      })
      await stream.close()
      return findings([...loads].map(([{ name }, samples]) => ({ name, samples })))
    }),
}

function findings(contenders: { name: string; samples: Sample[] }[]): Findings {
  const summaries = contenders.map(({ name, samples }) => ({
    name,
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
    p50: median(samples.map(({ p50 }) => p50)),
    p99: median(samples.map(({ p99 }) => p99)),
    microseconds: median(samples.map(({ microseconds }) => microseconds)),
    threadMicroseconds: median(samples.map(({ threadMicroseconds }) => threadMicroseconds)),
    failed: samples.reduce((sum, { failed }) => sum + failed, 0),
    samples,
  }))
  const summaryOf = (wanted: string) => summaries.find(({ name }) => name === wanted)
  const rate = (wanted: string) => summaryOf(wanted)?.perSecond ?? Number.NaN
  const ours = summaryOf('orderflow')
  return {
    tables: [
      {
        title: 'Medians of the rounds; failed is the sum of all rounds',
        head: [
          ...['', 'requests/s', 'ratio to bare', 'p50 ms', 'p99 ms'],
          ...['program µs per request', 'of these in its main thread', 'failed'],
        ],
        rows: summaries.map(({ name, perSecond, p50, p99, microseconds, threadMicroseconds, failed }) => [
          name,
          number(perSecond),
          number(perSecond / rate('bare Express'), 2),
          number(p50),
          number(p99),
          number(microseconds),
          number(threadMicroseconds),
          number(failed),
        ]),
      },
    ],
    goals: [
      atLeast('requests/s, orderflow / bare Express', rate('orderflow') / rate('bare Express'), 0.35, 2),
      atLeast('requests/s, orderflow / naive Dapr', rate('orderflow') / rate('naive Dapr'), 6, 1),
      atMost('orderflow, p50 in milliseconds', ours?.p50 ?? Number.NaN, 50),
      atMost(
        'orderflow, main thread of order-service, microseconds per request',
        ours?.threadMicroseconds ?? Number.NaN,
        150,
      ),
      atMost('requests of orderflow that failed', ours?.failed ?? Number.NaN, 0),
    ],
    figures: summaries,
  }
}
