import { partitions, provisionTools } from '@orderflow/cli'
import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part, type Run } from '../report/part.ts'
import { median, medianRatio } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { type Contender, withContenders } from '../support/contenders.ts'
import { type Ledger, requireComplete } from '../support/ledger.ts'
import {
  backlogFor,
  ledgersSince,
  markOf,
  type Payment,
  pay,
  payKilled,
  processes,
  requireRightAnswers,
  uncommitted,
} from '../support/paying.ts'
import { peers } from '../support/peers.ts'
import { openStream, type Stream } from '../support/stream.ts'

/** The number of first rounds that are not counted: they compile the programs’ code, and find the size of the backlog. */
const warmUps = 2

/** A contender with its results so far. */
interface Entry extends Contender {
  /** The ids of all orders that it got before the kill. */
  orders: string[]
  payments: Payment[]
  aftermath?: Aftermath
}

interface Aftermath {
  /** Seconds from the kill to the next payment. */
  silentSeconds: number
  stored: Ledger
  published: Ledger
}

/** Measures how fast programs with other frameworks do the work of payment-service, and how long payments pause after a program is killed. */
export const compare: Part = {
  title: `payments of OrderCreated events, compared with ${peers.map(({ label }) => label).join(', ')}, all with PostgreSQL`,

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
  const { rounds, seconds } = run.quick ? { rounds: 1, seconds: 0.2 } : { rounds: 5, seconds: 1.5 }
  const stream = openStream(stack.kafka)
  const entries: Entry[] = contenders.map((contender) => ({ ...contender, orders: [], payments: [] }))
  // Programs run until the end, so that the rounds measure compiled code.
  stack.launch(entries.flatMap(({ specs }) => specs))
  for (const entry of entries) {
    run.tell(`the first orders of ${entry.name}`)
    entry.orders = await requireRightAnswers(stack, stream, entry)
  }

  const payNext = async (entry: Entry) => {
    const rate = entry.payments.at(-1)?.perSecond ?? 1_000
    const { payment, orders } = await pay(stack, stream, entry, backlogFor(rate, seconds))
    entry.orders = entry.orders.concat(orders)
    entry.payments.push(payment)
  }
  await inTurn(run, entries, warmUps + rounds, payNext)
  for (const entry of entries) {
    entry.payments.splice(0, warmUps)
    const { stored, published } = await ledgersSince(stream, entry, undefined, entry.orders)
    requireComplete(`${entry.name}, its store`, stored)
    requireComplete(`${entry.name}, ${entry.topic}`, published)
  }

  await stack.stop(entries.filter(({ validates }) => !validates).flatMap(({ specs }) => specs))
  for (const entry of entries.filter(({ validates }) => validates)) {
    run.tell(`killing ${entry.name}`)
    entry.aftermath = await kill(stack, stream, entry, seconds)
  }
  await stack.stop(entries.flatMap(({ specs }) => specs))
  await stream.close()
  return findings(rounds, seconds, entries)
}

async function kill(stack: BenchStack, stream: Stream, entry: Entry, seconds: number): Promise<Aftermath> {
  // Uncommitted events would be announced again after the kill.
  await stack.wait(`${entry.name} to commit its offsets`, entry.specs, () => uncommitted(stream, entry))
  const mark = await markOf(stream, entry)
  const backlog = backlogFor(entry.payments.at(-1)?.perSecond ?? 0, seconds)
  const { silentSeconds, orders } = await payKilled(stack, stream, entry, backlog)
  return { silentSeconds, ...(await ledgersSince(stream, entry, mark, orders)) }
}

function findings(rounds: number, seconds: number, entries: Entry[]): Findings {
  const [ours] = entries as [Entry]
  const rates = ({ payments }: Entry) => payments.map(({ perSecond }) => perSecond)
  const rate = (entry: Entry) => median(rates(entry))
  const ratio = (entry: Entry) => medianRatio(rates(ours), rates(entry))
  const processorTime = ({ payments }: Entry) =>
    median(payments.map(({ microseconds }) => processes.reduce((sum, process) => sum + microseconds[process], 0)))
  const lost = (aftermath?: Aftermath) => (aftermath ? aftermath.stored.lost + aftermath.published.lost : Number.NaN)
  const labels = [...new Set(entries.map(({ label }) => label))]
  const ratesOf = (validating: boolean) =>
    labels.map((label) => {
      const entry = entries.find((entry) => entry.label === label && entry.validates === validating)
      return entry ? rate(entry) : Number.NaN
    })
  return {
    tables: [
      {
        title: `${partitions.processes} partitions, a backlog of about ${number(seconds, 1)} s in each round, medians of ${rounds} rounds; validating programs also write dead letters`,
        head: ['', 'events/s', 'orderflow / this program', 'processor µs per event'],
        rows: entries.map((entry) => [
          entry.name,
          number(rate(entry)),
          number(ratio(entry), 2),
          number(processorTime(entry)),
        ]),
      },
      {
        title: 'Each validating program is killed in the middle of a backlog, and restarted at once',
        head: ['', 'silent s', 'not stored', 'stored twice', 'not announced', 'announced again'],
        rows: entries.flatMap(({ name, aftermath }) => {
          if (!aftermath) return []
          const { silentSeconds, stored, published } = aftermath
          const counts = [stored.lost, stored.repeated + stored.unknown, published.lost, published.repeated]
          return [[name, number(silentSeconds, 1), ...counts.map((count) => number(count))]]
        }),
      },
    ],
    goals: [
      ...entries
        .filter((entry) => entry !== ours)
        .map((entry) => atLeast(`orderflow / ${entry.name}, events/s`, ratio(entry), 1, 2)),
      atMost('orders that orderflow lost', lost(ours.aftermath), 0),
    ],
    charts: [
      {
        name: 'rate',
        title: 'Events per second until their payments are stored in PostgreSQL and published',
        unit: 'events/s',
        categories: labels,
        series: [
          { name: 'without validation', values: ratesOf(false) },
          { name: 'with validation and dead letters', values: ratesOf(true) },
        ],
      },
    ],
    figures: entries.map(({ name, payments, aftermath }) => ({ name, payments, aftermath })),
  }
}
