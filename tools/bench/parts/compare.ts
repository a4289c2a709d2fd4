import { partitions, provisionTools } from '@orderflow/stack/internals'
import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part, type Run } from '../report/part.ts'
import { medianRatio } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { type Contender, patient, withContenders } from '../support/contenders.ts'
import { type Ledger, requireComplete } from '../support/ledger.ts'
import {
  backlogFor,
  headOfPayments,
  ledgersSince,
  type Mark,
  markOf,
  type Payment,
  pay,
  payKilled,
  processorTimeOf,
  ratesOf,
  requireRightAnswers,
  rowOfPayments,
  uncommitted,
} from '../support/paying.ts'
import { peers } from '../support/peers.ts'
import { openStream, type Stream } from '../support/stream.ts'

/** The number of first rounds that are not counted: they compile the programs’ code, and find the size of the backlog. */
const warmUps = 2

/** A contender with its results so far. */
interface Entry extends Contender {
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
  const [ours, ...others] = contenders as [Contender, ...Contender[]]
  const stream = openStream(stack.kafka)
  const group = (validates: boolean) => [ours, ...others.filter((other) => other.validates === validates)]
  const groups: [Entry[], Entry[]] = [
    await measureTogether(run, stack, stream, group(false)),
    await measureTogether(run, stack, stream, group(true)),
  ]
  for (const entry of groups[1]) {
    run.tell(`killing ${entry.name}`)
    entry.aftermath = await kill(stack, stream, entry, sizes(run).seconds)
  }
  await stream.close()
  return findings(run, groups)
}

const sizes = ({ quick }: Run) => (quick ? { rounds: 1, seconds: 0.2 } : { rounds: 5, seconds: 1.5 })

/** Measures contenders in turn. They run until the end, so that the rounds measure compiled code. Between its rounds, a contender is stopped. */
async function measureTogether(run: Run, stack: BenchStack, stream: Stream, contenders: Contender[]): Promise<Entry[]> {
  const { rounds, seconds } = sizes(run)
  const entries: (Entry & { mark: Mark; orders: string[] })[] = []
  for (const contender of contenders) {
    run.tell(`the first orders of ${contender.name}`)
    const entry = { ...patient(contender), mark: await markOf(stream, contender), orders: [], payments: [] }
    stack.launch(entry.specs)
    entries.push({ ...entry, orders: await requireRightAnswers(stack, stream, entry) })
    stack.signal(entry.specs, 'SIGSTOP')
  }

  await inTurn(run, entries, warmUps + rounds, async (entry) => {
    const rate = entry.payments.at(-1)?.perSecond ?? 1_000
    const { payment, orders } = await pay(stack, stream, entry, backlogFor(rate, seconds))
    entry.orders = entry.orders.concat(orders)
    entry.payments.push(payment)
  })
  for (const entry of entries) {
    entry.payments.splice(0, warmUps)
    const { stored, published } = await ledgersSince(stream, entry, entry.mark, entry.orders)
    requireComplete(`${entry.name}, its store`, stored)
    requireComplete(`${entry.name}, ${entry.topic}`, published)
  }

  const specs = entries.flatMap(({ specs }) => specs)
  stack.signal(specs, 'SIGCONT')
  await stack.stop(specs)
  return contenders.map((contender, index) => ({ ...contender, payments: entries[index]?.payments ?? [] }))
}

/** Kills a contender, which has its usual session timeout. */
async function kill(stack: BenchStack, stream: Stream, entry: Entry, seconds: number): Promise<Aftermath> {
  stack.launch(entry.specs)
  // Uncommitted events would be announced again after the kill.
  await stack.wait(`${entry.name} to commit its offsets`, entry.specs, () => uncommitted(stream, entry))
  const mark = await markOf(stream, entry)
  const backlog = backlogFor(entry.payments.at(-1)?.perSecond ?? 0, seconds)
  const { silentSeconds, orders } = await payKilled(stack, stream, entry, backlog)
  await stack.stop(entry.specs)
  return { silentSeconds, ...(await ledgersSince(stream, entry, mark, orders)) }
}

function findings(run: Run, groups: [Entry[], Entry[]]): Findings {
  const { rounds, seconds } = sizes(run)
  const [[oursAlone], [ours]] = groups as [[Entry], [Entry]]
  const lost = (aftermath?: Aftermath) => (aftermath ? aftermath.stored.lost + aftermath.published.lost : Number.NaN)
  const rounded = `${partitions.processes} partitions, a backlog of about ${number(seconds, 1)} s in each round, medians of ${rounds} rounds`
  const titles = [
    `The other programs check nothing; ${rounded}`,
    `All programs check events and write dead letters; ${rounded}`,
  ]
  return {
    tables: [
      ...groups.map((entries, index) => ({
        title: titles[index] ?? '',
        head: headOfPayments,
        rows: entries.map(({ label, payments }) => rowOfPayments(label, payments, entries[0]?.payments ?? [])),
      })),
      {
        title: 'Each validating program is killed in the middle of a backlog, and restarted at once',
        head: ['', 'silent s', 'not stored', 'stored twice', 'not announced', 'announced again'],
        rows: groups[1].flatMap(({ label, aftermath }) => {
          if (!aftermath) return []
          const { silentSeconds, stored, published } = aftermath
          const counts = [stored.lost, stored.repeated + stored.unknown, published.lost, published.repeated]
          return [[label, number(silentSeconds, 1), ...counts.map((count) => number(count))]]
        }),
      },
    ],
    goals: [
      ...groups.flatMap(([own, ...others]) =>
        others.map((other) =>
          atLeast(
            `orderflow / ${other.name}, events/s`,
            medianRatio(ratesOf((own as Entry).payments), ratesOf(other.payments)),
            1,
            2,
          ),
        ),
      ),
      atMost('processor time of orderflow per event in microseconds', processorTimeOf(oursAlone.payments), 160),
      atMost('orders that orderflow lost', lost(ours.aftermath), 0),
    ],
    figures: groups.flat().map(({ name, payments, aftermath }) => ({ name, payments, aftermath })),
  }
}
