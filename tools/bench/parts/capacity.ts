import { cpus } from 'node:os'
import { addPartitions, partitions } from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'
import { type Capacity, findingsOf } from '../capacity/findings.ts'
import { measureOrders } from '../capacity/orders.ts'
import { type Cell, measurePayments } from '../capacity/payments.ts'
import { type Site, timesOfStore, withSite } from '../capacity/site.ts'
import type { Part, Run } from '../report/part.ts'
import { readResult } from '../report/results.ts'
import { withBenchStack } from '../support/bench-stack.ts'
import { saysYes } from '../support/says-yes.ts'
import { numbersFrom } from '../support/variables.ts'

/** The numbers of replicas of a round. All predictions depend on the runs with one replica, so these runs come twice. */
const replicas = [1, 2, 3, 4, 6, 1]

/**
 * Measures the service times for the model of tools/forecast. ROUNDS=2 limits the number of rounds, and MORE=1 adds the rounds to those of the last
 * result. So the part can run in pieces.
 */
export const capacity: Part = {
  title: 'processor time of each part, with 1 to 6 replicas of payment-service',

  async measure(run) {
    const [rounds = 1] = numbersFrom('ROUNDS', run.quick ? '1' : '5')
    const sizes = run.quick
      ? { rounds, warmUp: 1_000, events: 6_000, idleSeconds: 2 }
      : { rounds, warmUp: 6_000, events: 48_000, idleSeconds: 5 }
    const kept = saysYes(process.env, 'MORE') ? lastCapacity(run.quick) : undefined
    const payments: Cell[] = kept?.payments ?? []
    const times = await withPartitions(run, async (site) => {
      for (let round = 1; round <= rounds; round += 1) {
        for (const count of replicas) {
          run.tell(`round ${round} of ${rounds}: ${count} replicas`)
          for (const cell of await measurePayments(site, count, sizes)) {
            run.tell(`${cell.load}: ${Math.round(cell.perSecond)} events/s, ${cell.busy.toFixed(2)} busy`)
            payments.push(cell)
          }
        }
      }
      return timesOfStore(site.stack, site.store)
    })
    run.tell('orders')
    const { cells, bytes } = await withPartitions(run, (site) => measureOrders(site, sizes))
    const orders = [...(kept?.orders ?? []), ...cells]
    return findingsOf({ partitions: partitions.containers, cores: cpus().length, payments, orders, times, bytes })
  },
}

function withPartitions<Result>({ tell }: Run, work: (site: Site) => Promise<Result>): Promise<Result> {
  return withBenchStack(['kafka', 'postgresql'], tell, (stack) =>
    withSite(stack, tell, async (site) => {
      await addPartitions(stack.kafka, topics.containers)
      return work(site)
    }),
  )
}

function lastCapacity(quick: boolean): Capacity | undefined {
  const last = readResult('capacity')
  return last?.quick === quick ? (last.figures as Capacity) : undefined
}
