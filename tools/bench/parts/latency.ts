import { atMost, type Findings, mebibytes, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { percentile } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { type PlacedOrder, placeOrders } from '../support/load.ts'
import { orderProcesses } from '../support/order-processes.ts'
import { countProcessorTime, type ProcessUse, processUse } from '../support/process-use.ts'
import { paidOrders, watchStore } from '../support/store.ts'
import { numbersFrom } from '../support/variables.ts'

interface Sample {
  rate: number
  /** Milliseconds from the due time of each order until it was answered, and until it was Paid. */
  answered: number[]
  paid: number[]
  failed: number
  use: Omit<ProcessUse, 'mainThreadMs'>[]
}

const goalRate = 500

/** RATES="50 200" changes the rates. */
export const latency: Part = {
  title: 'latency at a steady rate, from when an order is due to its answer and to Paid',

  measure: (run) =>
    withBenchStack(orderProcesses, run.tell, async (stack) => {
      const rates = numbersFrom('RATES', '50 500 1000')
      const seconds = run.quick ? 5 : 25
      const samples: Sample[] = []
      for (const rate of rates) {
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
  const used = countProcessorTime(stack.plan.folder)
  const placed = await placeOrders(stack.ordersUrl, rate, seconds)
  const accepted = placed.filter((order) => order.id !== undefined) as (PlacedOrder & { id: string })[]
  await stack.wait('all orders to be Paid', orderProcesses.map(stack.specOf), async () => {
    const open = accepted.filter(({ id }) => !paidAt.has(id)).length
    return open > 0 ? `${open} of ${accepted.length} orders are not` : undefined
  })
  const [times, use] = [used(), processUse(stack.plan.folder)]
  stopWatching()
  await requirePaid(stack, accepted)
  return {
    rate,
    answered: accepted.map(({ answered, due }) => answered - due),
    paid: accepted.map(({ id, due }) => (paidAt.get(id) ?? Number.NaN) - due),
    failed: placed.length - accepted.length,
    use: use.map(({ name, residentBytes }) => {
      return { name, residentBytes, processorMs: (times[name] ?? Number.NaN) / placed.length }
    }),
  }
}

async function requirePaid({ ordersUrl }: BenchStack, orders: { id: string }[]): Promise<void> {
  for (const { id } of orders.slice(-20)) {
    const { status } = (await (await fetch(`${ordersUrl}/${id}`)).json()) as { status: string }
    if (status !== 'Paid') throw new Error(`order ${id} is ${status}`)
  }
}

const shares = { p50: 0.5, p99: 0.99, p999: 0.999 }

function findings(samples: Sample[]): Findings {
  const row = (name: string, rate: number, values: number[]) => [
    `${number(rate)}/s: ${name}`,
    ...Object.values(shares).map((share) => number(percentile(values, share), 1)),
    number(percentile(values, 1), 1),
  ]
  const atGoal = samples.find(({ rate }) => rate === goalRate)
  const failed = samples.reduce((sum, sample) => sum + sample.failed, 0)
  return {
    tables: [
      {
        title: 'Milliseconds',
        head: ['orders', ...Object.keys(shares), 'max'],
        rows: samples.flatMap(({ rate, answered, paid }) => [
          row('POST answered', rate, answered),
          row('Paid', rate, paid),
        ]),
      },
      {
        title: 'Processor time per order in ms, and resident memory at the end',
        head: ['process', ...samples.map(({ rate }) => `${number(rate)}/s`), 'MiB'],
        rows: (samples.at(-1)?.use ?? []).map(({ name, residentBytes }) => [
          name,
          ...samples.map(({ use }) =>
            number(use.find((process) => process.name === name)?.processorMs ?? Number.NaN, 2),
          ),
          mebibytes(residentBytes),
        ]),
      },
    ],
    goals: [
      ...(atGoal ? [atMost(`p99 to Paid at ${goalRate}/s, ms`, percentile(atGoal.paid, 0.99), 250)] : []),
      atMost('requests that failed', failed, 0),
    ],
    figures: samples,
  }
}
