import { orderEvents } from '@orderflow/envelope-schema'
import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part } from '../report/part.ts'
import { failuresIn, medianOf } from '../report/statistics.ts'
import { untilCaughtUp } from '../support/backlog.ts'
import { withBenchStack } from '../support/bench-stack.ts'
import { type Load, postOrders } from '../support/load.ts'
import { countProcessorTime } from '../support/process-use.ts'
import { startOrders } from '../support/programs.ts'
import { copyTopic } from '../support/stream.ts'

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
      await copyTopic(stack.kafka, orderEvents, 'naive-orderevents')
      const bare = { name: 'bare Express', program: 'bare-orders', url: await startOrders(stack, 'bare-orders') }
      const orderflow = { name: 'orderflow', program: 'order-service', url: stack.ordersUrl }
      const url = await startOrders(stack, 'naive-orders', 'naive-orderevents')
      const contenders = [bare, orderflow, { name: 'naive Dapr', program: 'naive-orders', url }]
      run.tell('warming up')
      for (const { url } of contenders) await postOrders(url, { connections, seconds: Math.min(3, seconds) })
      const loads = await inTurn(run, contenders, rounds, async ({ program, url }): Promise<Sample> => {
        await untilCaughtUp(stack, [stack.specOf('order-sidecar')], ['order-service', orderEvents])
        const used = countProcessorTime(stack.plan.folder)
        const threadUsed = countProcessorTime(stack.plan.folder, 'mainThreadMs')
        const load = await postOrders(url, { connections, seconds })
        const perRequest = (ms = Number.NaN) => (ms * 1_000) / load.answered
        const microseconds = perRequest(used()[program])
        return { ...load, microseconds, threadMicroseconds: perRequest(threadUsed()[program]) }
      })
      return findings(loads)
    }),
}

function findings(contenders: { name: string; samples: Sample[] }[]): Findings {
  const summaries = contenders.map(({ name, samples }) => ({
    name,
    perSecond: medianOf(samples, ({ perSecond }) => perSecond),
    p50: medianOf(samples, ({ p50 }) => p50),
    p99: medianOf(samples, ({ p99 }) => p99),
    microseconds: medianOf(samples, ({ microseconds }) => microseconds),
    threadMicroseconds: medianOf(samples, ({ threadMicroseconds }) => threadMicroseconds),
    failed: failuresIn(samples),
    samples,
  }))
  const summaryOf = (wanted: string) => summaries.find(({ name }) => name === wanted)
  const rate = (wanted: string) => summaryOf(wanted)?.perSecond ?? Number.NaN
  const ours = summaryOf('orderflow')
  return {
    tables: [
      {
        title: 'Medians; µs for each request, without the sidecar; failed in all rounds',
        head: [
          ...['', 'requests/s', 'ratio to bare', 'p50 ms', 'p99 ms'],
          ...['processor µs', 'main thread µs', 'failed'],
        ],
        rows: summaries.map(({ name, perSecond, p50, p99, microseconds, threadMicroseconds, failed }) => [
          ...[name, number(perSecond), number(perSecond / rate('bare Express'), 2)],
          ...[p50, p99, microseconds, threadMicroseconds, failed].map((value) => number(value)),
        ]),
      },
    ],
    goals: [
      atLeast('orderflow / bare Express', rate('orderflow') / rate('bare Express'), 0.35, 2),
      atLeast('orderflow / naive Dapr', rate('orderflow') / rate('naive Dapr'), 6, 1),
      atMost('p50 ms', ours?.p50 ?? Number.NaN, 50),
      atMost('main thread µs', ours?.threadMicroseconds ?? Number.NaN, 150),
      atMost('failed', ours?.failed ?? Number.NaN, 0),
    ],
    figures: summaries,
  }
}
