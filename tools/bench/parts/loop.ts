import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part } from '../report/part.ts'
import { median } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { ledgerOf, requireComplete } from '../support/ledger.ts'
import { type Load, postOrders } from '../support/load.ts'
import { orderProcesses } from '../support/order-processes.ts'
import { countProcessorTime, type ProcessorTime } from '../support/process-use.ts'
import { countArrivals, paidOrders } from '../support/store.ts'
import { distance, openStream, type Stream } from '../support/stream.ts'

const connections = 256

interface Sample extends Load {
  /** Orders per second from the first POST until the last order is Paid. */
  paidPerSecond: number
  behindSeconds: number
  used: ProcessorTime
}

/** Each client posts the next order when the previous one is answered. */
export const loop: Part = {
  title: `the whole loop: POST from ${connections} connections until the last order is Paid`,

  measure: (run) =>
    withBenchStack(orderProcesses, run.tell, async (stack) => {
      const { rounds, orders } = run.quick ? { rounds: 1, orders: 1_000 } : { rounds: 3, orders: 20_000 }
      const stream = openStream(stack.kafka)
      run.tell('warming up')
      await placeUntilPaid(stack, stream, Math.min(2_000, orders))
      const samples = await inTurn(run, [{ name: `${number(orders)} orders` }], rounds, () =>
        placeUntilPaid(stack, stream, orders),
      )
      await requirePaid(stack, stream)
      await stream.close()
      return findings(orders, [...samples.values()].flat())
    }),
}

async function placeUntilPaid(
  { ordersUrl, plan, specOf, database, wait }: BenchStack,
  stream: Stream,
  amount: number,
): Promise<Sample> {
  const arrivals = countArrivals(database('order'), paidOrders)
  const before = await stream.ends(paymentEvents)
  const used = countProcessorTime(plan.folder)
  const load = await postOrders(ordersUrl, { connections, amount })
  await wait('all orders to be Paid', orderProcesses.map(specOf), async () => {
    const published = distance(before, await stream.ends(paymentEvents))
    if (published < load.answered) return `${published} payments of ${load.answered} orders`
    return arrivals.missing(load.answered)
  })
  const endedAt = Date.now()
  arrivals.close()
  return {
    ...load,
    paidPerSecond: (load.answered * 1_000) / (endedAt - load.startedAt),
    behindSeconds: (endedAt - load.endedAt) / 1_000,
    used: used(),
  }
}

/** @throws {Error} if a payment is missing, or the service does not show its order as Paid */
async function requirePaid({ ordersUrl }: BenchStack, stream: Stream): Promise<void> {
  const all = async (topic: string) => {
    const ends = await stream.ends(topic)
    return stream.keys(
      topic,
      ends.map(() => 0n),
      ends,
    )
  }
  const orders = await all(orderEvents)
  requireComplete('payments', ledgerOf(orders, await all(paymentEvents)))
  for (const id of orders.slice(-100)) {
    const { status } = (await (await fetch(`${ordersUrl}/${id}`)).json()) as { status: string }
    if (status !== 'Paid') throw new Error(`order ${id} is ${status}`)
  }
}

function findings(orders: number, samples: Sample[]): Findings {
  const middle = (figure: (sample: Sample) => number) => median(samples.map(figure))
  const failed = samples.reduce((sum, sample) => sum + sample.failed, 0)
  const paidPerSecond = middle((sample) => sample.paidPerSecond)
  return {
    tables: [
      {
        title: `${number(orders)} orders per round, medians`,
        head: ['', 'orders/s'],
        rows: [
          ['POST answered', number(middle(({ perSecond }) => perSecond))],
          ['last order Paid', number(paidPerSecond)],
          [
            'seconds from the last answer to the last order Paid',
            number(
              middle(({ behindSeconds }) => behindSeconds),
              1,
            ),
          ],
          ['requests that failed', number(failed)],
        ],
      },
      {
        title: 'Processor time per order in microseconds, medians',
        head: ['process', 'µs'],
        rows: Object.keys(samples[0]?.used ?? {}).map((name) => [
          name,
          number(middle(({ used, answered }) => ((used[name] ?? Number.NaN) * 1_000) / answered)),
        ]),
      },
    ],
    goals: [atLeast('whole loop, orders/s', paidPerSecond, 2_500), atMost('requests that failed', failed, 0)],
    figures: samples,
  }
}
