import { provisionTools } from '@orderflow/stack/internals'
import { atLeast, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part } from '../report/part.ts'
import { medianRatio } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { type Contender, withContenders } from '../support/contenders.ts'
import { requireComplete } from '../support/ledger.ts'
import {
  headOfPayments,
  ledgersSince,
  markOf,
  type Payment,
  pay,
  ratesOf,
  requireRightAnswers,
  rowOfPayments,
} from '../support/paying.ts'
import { peers } from '../support/peers.ts'
import { openStream, type Stream } from '../support/stream.ts'

const peer = 'Spring Kafka'

/** Measures programs whose code is not compiled yet, as after a deployment. The part `compare` measures programs that have run for some time. */
export const started: Part = {
  title: `payments of OrderCreated events by programs that have just started, compared with ${peer}, with PostgreSQL`,

  async measure(run) {
    await provisionTools(
      peers.filter(({ label }) => label === peer).map(({ tool }) => tool),
      { onProgress: run.tell },
    )
    const { rounds, events } = run.quick ? { rounds: 1, events: 2_000 } : { rounds: 5, events: 24_000 }
    return withBenchStack(['kafka', 'postgresql'], run.tell, (stack) =>
      withContenders(stack, async (all) => {
        const stream = openStream(stack.kafka)
        const [ours, ...others] = all as [Contender, ...Contender[]]
        const contenders = [ours, ...others.filter(({ label }) => label === peer)]
        const payments = await inTurn(run, contenders, rounds, (contender) => payOnce(stack, stream, contender, events))
        await stream.close()
        return findings([...payments], { rounds, events })
      }),
    )
  },
}

/** Starts a contender, gives it 1,000 orders, measures it with the given number of orders, and stops it. */
async function payOnce(stack: BenchStack, stream: Stream, contender: Contender, events: number): Promise<Payment> {
  const mark = await markOf(stream, contender)
  stack.launch(contender.specs)
  const first = await requireRightAnswers(stack, stream, contender)
  const { payment, orders } = await pay(stack, stream, contender, events)
  stack.signal(contender.specs, 'SIGCONT')
  await stack.stop(contender.specs)
  const { stored, published } = await ledgersSince(stream, contender, mark, [...first, ...orders])
  requireComplete(`${contender.name}, its store`, stored)
  requireComplete(`${contender.name}, ${contender.topic}`, published)
  return payment
}

function findings(entries: [Contender, Payment[]][], { rounds, events }: { rounds: number; events: number }): Findings {
  const ours = entries[0]?.[1] ?? []
  return {
    tables: [
      {
        title: `${number(events)} events for each new process, after its first 1,000, medians of ${rounds} rounds`,
        head: headOfPayments,
        rows: entries.map(([{ name }, payments]) => rowOfPayments(name, payments, ours)),
      },
    ],
    goals: entries
      .slice(1)
      .map(([{ name, validates }, payments]) =>
        atLeast(
          `orderflow / ${name}, events/s`,
          medianRatio(ratesOf(ours), ratesOf(payments)),
          validates ? 1 : 0.68,
          2,
        ),
      ),
    figures: entries.map(([{ name }, payments]) => ({ name, payments })),
  }
}
