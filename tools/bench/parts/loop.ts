import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { failuresIn, medianOf } from '../report/statistics.ts'
import { type BenchStack, orderProcesses, withBenchStack } from '../support/bench-stack.ts'
import { ledgerOf, requireComplete } from '../support/ledger.ts'
import { type Load, postOrders, requirePaid } from '../support/load.ts'
import { countArrivals, paidOrders } from '../support/store.ts'
import { distance } from '../support/stream.ts'

const connections = 256

interface Sample extends Load {
  /** Orders per second from the first POST until the last order is Paid. */
  paidPerSecond: number
  behindSeconds: number
}

/** Each client posts the next order when the previous one is answered. */
export const loop: Part = {
  title: `the whole loop: POST from ${connections} connections until the last order is Paid`,

  measure: (run) =>
    withBenchStack(orderProcesses, run.tell, async (stack) => {
      const { rounds, orders } = run.quick ? { rounds: 1, orders: 1_000 } : { rounds: 3, orders: 20_000 }
      run.tell('warming up')
      await placeUntilPaid(stack, Math.min(2_000, orders))
      const samples: Sample[] = []
      for (let round = 1; round <= rounds; round += 1) {
        run.tell(`round ${round} of ${rounds}: ${number(orders)} orders`)
        samples.push(await placeUntilPaid(stack, orders))
      }
      const ids = await stack.stream.keys(orderEvents)
      requireComplete('payments', ledgerOf(ids, await stack.stream.keys(paymentEvents)))
      await requirePaid(stack.ordersUrl, ids.slice(-100))
      return findings(orders, samples)
    }),
}

async function placeUntilPaid(
  { ordersUrl, specOf, stream, database, wait }: BenchStack,
  amount: number,
): Promise<Sample> {
  const arrivals = countArrivals(database('order'), paidOrders)
  const before = await stream.ends(paymentEvents)
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
  }
}

function findings(orders: number, samples: Sample[]): Findings {
  const paidPerSecond = medianOf(samples, (sample) => sample.paidPerSecond)
  const behindSeconds = medianOf(samples, (sample) => sample.behindSeconds)
  return {
    tables: [
      {
        title: `${number(orders)} orders per round, medians; ${number(behindSeconds, 1)} s from the last answer to the last payment`,
        head: ['', 'orders/s'],
        rows: [
          ['POST answered', number(medianOf(samples, ({ perSecond }) => perSecond))],
          ['last order Paid', number(paidPerSecond)],
        ],
      },
    ],
    goals: [atLeast('orders/s', paidPerSecond, 2_500), atMost('failed requests', failuresIn(samples), 0)],
    figures: samples,
  }
}
