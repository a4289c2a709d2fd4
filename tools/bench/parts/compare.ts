import { partitions, provisionTools } from '@orderflow/stack/internals'
import { atLeast, atMost, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part, type Run } from '../report/part.ts'
import { medianOf } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { type Contender, patient, withContenders } from '../support/contenders.ts'
import { type Ledger, requireComplete } from '../support/ledger.ts'
import {
  backlogFor,
  cellsOfPayments,
  headOfPayments,
  ledgersSince,
  type Mark,
  markOf,
  type Payment,
  pay,
  payKilled,
  ratioOf,
  requireRightAnswers,
  uncommitted,
} from '../support/paying.ts'
import { peers } from '../support/peers.ts'

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
  const group = (validates: boolean) => [ours, ...others.filter((other) => other.validates === validates)]
  const groups: [Entry[], Entry[]] = [
    await measureTogether(run, stack, group(false)),
    await measureTogether(run, stack, group(true)),
  ]
  for (const entry of groups[1]) {
    run.tell(`killing ${entry.name}`)
    entry.aftermath = await kill(stack, entry, sizes(run).seconds)
  }
  return findings(run, groups)
}

const sizes = ({ quick }: Run) => (quick ? { rounds: 1, seconds: 0.2 } : { rounds: 5, seconds: 1.5 })

/** Measures contenders in turn. They run until the end, so that the rounds measure compiled code. Between its rounds, a contender is stopped. */
async function measureTogether(run: Run, stack: BenchStack, contenders: Contender[]): Promise<Entry[]> {
  const { rounds, seconds } = sizes(run)
  const entries: (Entry & { mark: Mark; orders: string[] })[] = []
  for (const contender of contenders) {
    run.tell(`the first orders of ${contender.name}`)
    const entry = { ...patient(contender), mark: await markOf(stack.stream, contender), orders: [], payments: [] }
    stack.launch(entry.specs)
    entries.push({ ...entry, orders: await requireRightAnswers(stack, entry) })
    stack.signal(entry.specs, 'SIGSTOP')
  }

  await inTurn(run, entries, warmUps + rounds, async (entry) => {
    const rate = entry.payments.at(-1)?.perSecond ?? 1_000
    const { payment, orders } = await pay(stack, entry, backlogFor(rate, seconds))
    entry.orders = entry.orders.concat(orders)
    entry.payments.push(payment)
  })
  for (const entry of entries) {
    entry.payments.splice(0, warmUps)
    const { stored, published } = await ledgersSince(stack.stream, entry, entry.mark, entry.orders)
    requireComplete(`${entry.name}, its store`, stored)
    requireComplete(`${entry.name}, ${entry.topic}`, published)
  }

  const specs = entries.flatMap(({ specs }) => specs)
  stack.signal(specs, 'SIGCONT')
  await stack.stop(specs)
  return contenders.map((contender, index) => ({ ...contender, payments: entries[index]?.payments ?? [] }))
}

/** Kills a contender, which has its usual session timeout. */
async function kill(stack: BenchStack, entry: Entry, seconds: number): Promise<Aftermath> {
  const { stream } = stack
  stack.launch(entry.specs)
  // Uncommitted events would be announced again after the kill.
  await stack.wait(`${entry.name} to commit its offsets`, entry.specs, () => uncommitted(stream, entry))
  const mark = await markOf(stream, entry)
  const backlog = backlogFor(entry.payments.at(-1)?.perSecond ?? 0, seconds)
  const { silentSeconds, orders } = await payKilled(stack, entry, backlog)
  await stack.stop(entry.specs)
  return { silentSeconds, ...(await ledgersSince(stream, entry, mark, orders)) }
}

function findings(run: Run, groups: [Entry[], Entry[]]): Findings {
  const { rounds, seconds } = sizes(run)
  const [[oursAlone], [ours]] = groups as [[Entry], [Entry]]
  const lost = (aftermath?: Aftermath) => (aftermath ? aftermath.stored.lost + aftermath.published.lost : Number.NaN)
  return {
    tables: [
      {
        title: `${partitions.processes} partitions, backlogs of about ${number(seconds, 1)} s, medians of ${rounds} rounds; ratio of orderflow to the program`,
        head: ['', ...headOfPayments, ...headOfPayments.map((column) => `validating: ${column}`)],
        rows: groups[0].map(({ label }, index) => [
          label,
          ...groups.flatMap((entries) => cellsOfPayments(entries[index]?.payments ?? [], entries[0]?.payments ?? [])),
        ]),
      },
      {
        title: 'Each validating program is killed and restarted',
        head: ['', 'silent s', 'lost or stored twice', 'announced again'],
        rows: groups[1].flatMap(({ label, aftermath }) => {
          if (!aftermath) return []
          const { silentSeconds, stored, published } = aftermath
          const wrong = stored.lost + stored.repeated + stored.unknown + published.lost
          return [[label, number(silentSeconds, 1), number(wrong), number(published.repeated)]]
        }),
      },
    ],
    goals: [
      ...groups.flatMap(([own, ...others]) =>
        others.map(({ name, payments }) => atLeast(name, ratioOf((own as Entry).payments, payments), 1, 2)),
      ),
      atMost(
        'processor µs of orderflow',
        medianOf(oursAlone.payments, ({ microseconds }) => microseconds),
        160,
      ),
      atMost('orders that orderflow lost', lost(ours.aftermath), 0),
    ],
    figures: groups.flat().map(({ name, payments, aftermath }) => ({ name, payments, aftermath })),
  }
}
