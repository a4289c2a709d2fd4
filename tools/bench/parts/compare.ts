import { partitions, provisionTools } from '@orderflow/cli'
import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part, type Run } from '../report/part.ts'
import { median, medianRatio } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { type Contender, withContenders } from '../support/contenders.ts'
import { publishOrders } from '../support/events.ts'
import { type Ledger, requireComplete } from '../support/ledger.ts'
import {
  ledgersSince,
  type Mark,
  markOf,
  type Payment,
  pay,
  payKilled,
  processes,
  requireRightAnswers,
  total,
} from '../support/paying.ts'
import { peers } from '../support/peers.ts'
import { openStream } from '../support/stream.ts'

/** The results of all rounds in which a contender was killed. */
interface Aftermath {
  /** Seconds from each kill to the next payment. */
  silentSeconds: number[]
  stored: Ledger
  published: Ledger
}

interface Summary extends Aftermath {
  name: string
  payments: Payment[]
}

/** Measures how fast programs with other frameworks pay the same orders, and how long payments pause after a program is killed. */
export const compare: Part = {
  title: 'the same OrderCreated events, compared with NestJS, Watermill and Spring Kafka, all with PostgreSQL',

  async measure(run) {
    await provisionTools(
      peers.map(({ tool }) => tool),
      { onProgress: run.tell },
    )
    return withBenchStack(['kafka', 'postgresql'], run.tell, (stack) =>
      withContenders(stack, (contenders) => measureAll(run, stack, contenders)),
    )
  },
}

async function measureAll(run: Run, stack: BenchStack, contenders: Contender[]): Promise<Findings> {
  const { rounds, events } = run.quick ? { rounds: 1, events: 3_000 } : { rounds: 3, events: 24_000 }
  const stream = openStream(stack.kafka)
  run.tell('warming up')
  const undisturbed = await publishOrders(stream, 1_000, 0, total)
  for (const contender of contenders) await requireRightAnswers(stack, stream, contender, undisturbed)

  const payments = await inTurn(run, contenders, rounds, async (contender) => {
    if (contender === contenders[0])
      for (const id of await publishOrders(stream, events, 0, total)) undisturbed.push(id)
    return pay(stack, stream, contender, events)
  })
  const marks = new Map<Contender, Mark>()
  for (const contender of contenders) {
    const { stored, published } = await ledgersSince(stream, contender, undefined, undisturbed)
    requireComplete(`${contender.name}, its store`, stored)
    requireComplete(`${contender.name}, ${contender.topic}`, published)
    marks.set(contender, await markOf(stream, contender))
  }

  run.tell('the next rounds have a kill in the middle')
  const disturbed: string[] = []
  const silences = await inTurn(run, contenders, rounds, async (contender) => {
    if (contender === contenders[0]) for (const id of await publishOrders(stream, events, 0, total)) disturbed.push(id)
    return payKilled(stack, stream, contender, events)
  })
  const summaries: Summary[] = []
  for (const contender of contenders) {
    summaries.push({
      name: contender.name,
      payments: payments.get(contender) ?? [],
      silentSeconds: silences.get(contender) ?? [],
      ...(await ledgersSince(stream, contender, marks.get(contender), disturbed)),
    })
  }
  await stream.close()
  return findings(events, rounds, summaries)
}

function findings(events: number, rounds: number, summaries: Summary[]): Findings {
  const [ours] = summaries as [Summary]
  const middle = (name: Summary, value: (payment: Payment) => number) => median(name.payments.map(value))
  const rate = (summary: Summary) => middle(summary, ({ perSecond }) => perSecond)
  const perSecondOf = ({ payments }: Pick<Summary, 'payments'>) => payments.map(({ perSecond }) => perSecond)
  const ratio = ({ payments }: Summary) => medianRatio(perSecondOf(ours), perSecondOf({ payments }))
  const lost = ({ stored, published }: Aftermath) => stored.lost + published.lost
  return {
    tables: [
      {
        title: `${number(events)} events per round, ${partitions.processes} partitions, medians of ${rounds}; start is the time until the first payment`,
        head: ['', 'events/s', 'orderflow / this program', 'processors busy', 'start s'],
        rows: summaries.map((summary) => [
          summary.name,
          number(rate(summary)),
          number(ratio(summary), 2),
          number(
            middle(summary, ({ busy }) => busy),
            2,
          ),
          number(
            middle(summary, ({ startSeconds }) => startSeconds),
            1,
          ),
        ]),
      },
      {
        title: 'Processor time per event in microseconds, medians',
        head: ['', 'program', 'sidecar', 'Kafka', 'PostgreSQL', 'all'],
        rows: summaries.map((summary) => {
          const each = processes.map((process) => middle(summary, ({ microseconds }) => microseconds[process]))
          return [summary.name, ...[...each, each.reduce((sum, one) => sum + one)].map((value) => number(value))]
        }),
      },
      {
        title: `Each program is killed in the middle of ${number(events)} events and restarted at once, in each of ${rounds} rounds`,
        head: ['', 'silent s', 'not stored', 'stored twice', 'not announced', 'announced again'],
        rows: summaries.map(({ name, silentSeconds, stored, published }) => [
          name,
          number(median(silentSeconds), 1),
          ...[stored.lost, stored.repeated + stored.unknown, published.lost, published.repeated].map((value) =>
            number(value),
          ),
        ]),
      },
    ],
    goals: [
      ...summaries
        .filter((summary) => summary !== ours)
        .map((summary) => atLeast(`orderflow / ${summary.name}, events/s`, ratio(summary), 1, 2)),
      atMost('orders that orderflow lost', lost(ours), 0),
    ],
    charts: [
      {
        name: 'rate',
        title: 'Events per second until their payments are stored in PostgreSQL and published',
        unit: 'events/s',
        categories: summaries.map(({ name }) => name),
        series: [{ name: 'events/s', values: summaries.map(rate) }],
      },
    ],
    figures: summaries,
  }
}
