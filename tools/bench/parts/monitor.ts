import { buildPages } from '@orderflow/stack/internals'
import { beside } from '../monitor/beside.ts'
import { catchUp, specsOf } from '../monitor/catching-up.ts'
import { findings } from '../monitor/findings.ts'
import { live, rate } from '../monitor/live.ts'
import type { Part } from '../report/part.ts'
import { withBenchStack } from '../support/bench-stack.ts'
import { publishOrders } from '../support/events.ts'
import { openStream } from '../support/stream.ts'

/** Measures whether the monitor keeps up with events, how long its users wait, and how much it slows services down. */
export const monitor: Part = {
  title: `Every event in the monitor's index: a backlog, ${rate} events per second with searches, and its effect on services`,

  measure: (run) =>
    withBenchStack(['kafka'], run.tell, async (stack) => {
      const { backlog, seconds, rounds, orders } = run.quick
        ? { backlog: 60_000, seconds: 10, rounds: 1, orders: 4_000 }
        : { backlog: 400_000, seconds: 600, rounds: 15, orders: 40_000 }
      await buildPages(undefined)
      const stream = openStream(stack.kafka)
      const paid = await beside(run, stack, stream, rounds, orders)
      run.tell(`publishing ${backlog} events`)
      for (let left = backlog; left > 0; left -= 20_000) await publishOrders(stream, Math.min(left, 20_000))
      const fromBacklog = await catchUp(stack)
      const watched = await live(run, stack, seconds)
      await stack.stop(specsOf(stack))
      await stream.close()
      return findings(fromBacklog, watched, paid)
    }),
}
