import { pay } from '../parts/outside.ts'
import { inTurn, type Run } from '../report/part.ts'
import { median } from '../report/statistics.ts'
import type { BenchStack } from '../support/bench-stack.ts'
import { publishOrders } from '../support/events.ts'
import { countProcessorTime } from '../support/process-use.ts'
import type { Stream } from '../support/stream.ts'
import { catchUp, countFromNow, specsOf } from './catching-up.ts'

export interface Beside {
  name: string
  perSecond: number[]
  /** Medians: the monitor’s processor time per order, and the seconds from the last payment to a complete index. */
  microseconds: number
  behindSeconds: number
}

/**
 * Measures payments per second, alternately without and with the monitor. The monitor is suspended while orders are published. Then it indexes
 * two events of each order.
 */
export async function beside(
  run: Run,
  stack: BenchStack,
  stream: Stream,
  rounds: number,
  events: number,
): Promise<Beside[]> {
  const payers = [stack.specOf('payment-service'), stack.specOf('payment-sidecar')]
  const contender = { name: 'payments', specs: payers, topic: 'paymentevents', database: 'payment' }
  await publishOrders(stream, events)
  await pay(stack, stream, contender, events)
  await catchUp(stack)
  const samples = await inTurn(
    run,
    [
      { name: 'payments alone', isWatched: false },
      { name: 'with the monitor', isWatched: true },
    ],
    rounds,
    async ({ isWatched }) => {
      const indexed = await countFromNow(stack)
      stack.signal(specsOf(stack), 'SIGSTOP')
      await publishOrders(stream, events)
      const used = countProcessorTime(stack.plan.folder)
      if (isWatched) stack.signal(specsOf(stack), 'SIGCONT')
      const { perSecond } = await pay(stack, stream, contender, events, Math.floor(events / 10))
      const endedAt = performance.now()
      stack.signal(specsOf(stack), 'SIGCONT')
      await indexed(2 * events)
      const behindSeconds = (performance.now() - endedAt) / 1_000
      const microseconds = ((used()['event-monitor'] ?? 0) * 1_000) / events
      return { perSecond, microseconds, behindSeconds }
    },
  )
  await stack.stop(specsOf(stack))
  return [...samples].map(([{ name }, found]) => ({
    name,
    perSecond: found.map(({ perSecond }) => perSecond),
    microseconds: median(found.map(({ microseconds }) => microseconds)),
    behindSeconds: median(found.map(({ behindSeconds }) => behindSeconds)),
  }))
}
