import { atMost, type Findings, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { failuresIn, percentile } from '../report/statistics.ts'
import { type BenchStack, orderProcesses, withBenchStack } from '../support/bench-stack.ts'
import { type PlacedOrder, placeOrders, requirePaid } from '../support/load.ts'
import { paidOrders, watchStore } from '../support/store.ts'
import { numbersFrom } from '../support/variables.ts'

interface Sample {
  rate: number
  /** Milliseconds from the due time of each order until it was answered, and until it was Paid. */
  answered: number[]
  paid: number[]
  failed: number
}

const goalRate = 500

/** RATES="50 200" changes the rates. */
export const latency: Part = {
  title: 'latency at a steady rate, from when an order is due to its answer and to Paid',

  measure: (run) =>
    withBenchStack(orderProcesses, run.tell, async (stack) => {
      const seconds = run.quick ? 5 : 25
      const samples: Sample[] = []
      for (const rate of numbersFrom('RATES', '50 500 1000')) {
        run.tell(`${rate} orders/s: warming up`)
        await measureRate(stack, rate, run.quick ? 1 : 5)
        run.tell(`${rate} orders/s: for ${seconds} s`)
        samples.push(await measureRate(stack, rate, seconds))
      }
      return findings(samples)
    }),
}

async function measureRate(stack: BenchStack, rate: number, seconds: number): Promise<Sample> {
  const paidAt = new Map<string, number>()
  const stopWatching = watchStore(stack.database('order'), paidOrders, (keys, at) => {
    for (const key of keys) paidAt.set(key.split('/').at(-1) ?? '', at)
  })
  const placed = await placeOrders(stack.ordersUrl, rate, seconds)
  const accepted = placed.filter((order) => order.id !== undefined) as (PlacedOrder & { id: string })[]
  await stack.wait('all orders to be Paid', orderProcesses.map(stack.specOf), async () => {
    const open = accepted.filter(({ id }) => !paidAt.has(id)).length
    return open > 0 ? `${open} of ${accepted.length} orders are not` : undefined
  })
  stopWatching()
  await requirePaid(
    stack.ordersUrl,
    accepted.slice(-20).map(({ id }) => id),
  )
  return {
    rate,
    answered: accepted.map(({ answered, due }) => answered - due),
    paid: accepted.map(({ id, due }) => (paidAt.get(id) ?? Number.NaN) - due),
    failed: placed.length - accepted.length,
  }
}

const shares = { p50: 0.5, p99: 0.99, p999: 0.999, max: 1 }

function findings(samples: Sample[]): Findings {
  const row = (name: string, rate: number, values: number[]) => [
    `${number(rate)}/s: ${name}`,
    ...Object.values(shares).map((share) => number(percentile(values, share), 1)),
  ]
  const atGoal = samples.find(({ rate }) => rate === goalRate)
  return {
    tables: [
      {
        title: 'Milliseconds',
        head: ['orders', ...Object.keys(shares)],
        rows: samples.flatMap(({ rate, answered, paid }) => [
          row('POST answered', rate, answered),
          row('Paid', rate, paid),
        ]),
      },
    ],
    goals: [
      ...(atGoal ? [atMost(`p99 to Paid at ${goalRate}/s, ms`, percentile(atGoal.paid, 0.99), 250)] : []),
      atMost('failed requests', failuresIn(samples), 0),
    ],
    figures: samples,
  }
}
