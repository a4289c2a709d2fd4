import { cpus } from 'node:os'
import { addPartitions, partitions, topics } from '@orderflow/cli'
import { type Capacity, findingsOf } from '../capacity/findings.ts'
import { measureOrders } from '../capacity/orders.ts'
import { type Cell, measurePayments } from '../capacity/payments.ts'
import { timesOfStore, withSite } from '../capacity/site.ts'
import type { Part } from '../report/part.ts'
import { readResult } from '../report/results.ts'
import { withBenchStack } from '../support/bench-stack.ts'
import { numbersFrom } from '../support/variables.ts'

/**
 * Measures the service times for the model of tools/forecast. REPLICAS="1 2" measures only these numbers of replicas, and keeps the figures of other
 * numbers from the last result. So the part can run in pieces.
 */
export const capacity: Part = {
  title: 'processor time of each part, with 1 to 6 replicas of payment-service',

  async measure(run) {
    const replicas = numbersFrom('REPLICAS', '1 2 3 4 6')
    const rounds = run.quick ? 1 : 3
    const sizes = run.quick
      ? { warmUp: 1_000, backlog: 6_000, steadySeconds: 2, rates: [200, 1_000] }
      : { warmUp: 6_000, backlog: 48_000, steadySeconds: 10, rates: [250, 1_000, 2_500] }
    const kept = lastCapacity(run.quick)
    const isMeasured = ({ replicas: count }: Cell) => replicas.includes(Math.max(1, count))
    const payments: Cell[] = kept?.payments.filter((cell) => !isMeasured(cell)) ?? []
    const stored = await withBenchStack(['kafka', 'postgresql'], run.tell, (stack) =>
      withSite(stack, async (site) => {
        await addPartitions(stack.kafka, topics.containers)
        for (let round = 1; round <= rounds; round += 1) {
          for (const count of replicas) {
            run.tell(`round ${round} of ${rounds}: ${count} replicas`)
            for (const cell of await measurePayments(site, count, sizes)) {
              run.tell(`${cell.load}: ${Math.round(cell.perSecond)} events/s, ${cell.busy.toFixed(2)} busy`)
              payments.push(cell)
            }
          }
        }
        return timesOfStore(stack, site.store)
      }),
    )
    if (kept && !replicas.includes(1)) return findingsOf({ ...kept, payments })
    run.tell('orders')
    const { cells: orders, bytes } = await withBenchStack(['kafka', 'postgresql'], run.tell, (stack) =>
      withSite(stack, async (site) => {
        await addPartitions(stack.kafka, topics.containers)
        return measureOrders(site, sizes)
      }),
    )
    return findingsOf({
      partitions: partitions.containers,
      cores: cpus().length,
      payments,
      orders,
      times: stored,
      bytes,
    })
  },
}

function lastCapacity(quick: boolean): Capacity | undefined {
  const last = readResult('capacity')
  return last?.quick === quick ? (last.figures as Capacity) : undefined
}
