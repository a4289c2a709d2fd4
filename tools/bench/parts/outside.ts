import { paymentEvents } from '@orderflow/envelope-schema'
import type { ProcessSpec } from '@orderflow/stack/internals'
import { atLeast, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part } from '../report/part.ts'
import { medianOf } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { publishOrders } from '../support/events.ts'
import { ledgerOf, requireComplete } from '../support/ledger.ts'
import { countProcessorTime, type ProcessorTime } from '../support/process-use.ts'
import { environmentOf, program, sidecar } from '../support/programs.ts'
import { countArrivals, openStore } from '../support/store.ts'
import { copyTopic, distance } from '../support/stream.ts'

interface Contender {
  name: string
  specs: ProcessSpec[]
  topic: string
  database: string
}

interface Sample {
  /** The time from the start to the first check that finds payments. */
  startSeconds: number
  /** Payments per second between two checks: the first that finds payments, and the first that finds all payments. Payments that the first check finds are left out. */
  perSecond: number
  /** Microseconds of processor time per event, while the rate is measured. */
  kafka: number
  program: number
  sidecar: number
}

export const outside: Part = {
  title: 'OrderCreated of outside publishers in Kafka, until all payments are stored and published',

  measure: (run) =>
    withBenchStack(['kafka'], run.tell, async (stack) => {
      const { rounds, events } = run.quick ? { rounds: 1, events: 3_000 } : { rounds: 3, events: 12_000 }
      const contenders = await createContenders(stack)
      run.tell('warming up')
      const published = await publishOrders(stack.stream, Math.min(1_000, events))
      for (const contender of contenders) await pay(stack, contender, published.length)
      const measured = await inTurn(run, contenders, rounds, async (contender) => {
        if (contender === contenders[0]) for (const id of await publishOrders(stack.stream, events)) published.push(id)
        return pay(stack, contender, events)
      })
      for (const contender of contenders) await requirePaid(stack, contender, published)
      return findings(events, measured)
    }),
}

async function createContenders(stack: BenchStack): Promise<Contender[]> {
  for (const name of ['naive', 'direct']) await copyTopic(stack.kafka, paymentEvents, `${name}-paymentevents`)
  const ports = await stack.morePorts()
  const naive = { ...environmentOf(ports), TOPIC: 'naive-paymentevents' }
  const direct = {
    BROKER: stack.kafka.bootstrapBrokers[0] ?? '',
    DATABASE: stack.database('direct-payments'),
    TOPIC: 'direct-paymentevents',
  }
  return [
    {
      name: 'direct pipeline',
      specs: [program('direct-payments', direct)],
      topic: 'direct-paymentevents',
      database: 'direct-payments',
    },
    {
      name: 'orderflow',
      specs: [stack.specOf('payment-service'), stack.specOf('payment-sidecar')],
      topic: paymentEvents,
      database: 'payment',
    },
    {
      name: 'naive Dapr',
      specs: [program('naive-payments', naive), sidecar(stack, 'naive-payments', ports)],
      topic: 'naive-paymentevents',
      database: 'naive-payments',
    },
  ]
}

const payments = { key: '%payment/%' }

/** Starts a contender, waits until it has paid all events in Kafka, and stops it. */
async function pay(stack: BenchStack, { name, specs, topic, database }: Contender, events: number): Promise<Sample> {
  const arrivals = countArrivals(stack.database(database), payments)
  const before = await stack.stream.ends(topic)
  const startedAt = performance.now()
  let first: { at: number; published: number; used: () => ProcessorTime } | undefined
  stack.launch(specs)
  await stack.wait(`${name} to pay ${events} orders`, specs, async () => {
    const published = distance(before, await stack.stream.ends(topic))
    if (published > 0) first ??= { at: performance.now(), published, used: countProcessorTime(stack.plan.folder) }
    return published < events ? `${published} are published` : arrivals.missing(events)
  })
  if (!first) throw new Error(`${name} published no payment`)
  const [endedAt, used] = [performance.now(), first.used()]
  arrivals.close()
  await stack.stop(specs)
  const paid = events - first.published
  const [program = '', sidecar = ''] = specs.map((spec) => spec.name)
  const perEvent = (process: string) => ((used[process] ?? 0) * 1_000) / paid
  return {
    startSeconds: (first.at - startedAt) / 1_000,
    perSecond: (paid * 1_000) / (endedAt - first.at),
    kafka: perEvent('kafka'),
    program: perEvent(program),
    sidecar: perEvent(sidecar),
  }
}

/** @throws {Error} if a payment or its announcement is missing */
async function requirePaid(stack: BenchStack, { name, topic, database }: Contender, orders: string[]) {
  requireComplete(`${name}, ${topic}`, ledgerOf(orders, await stack.stream.keys(topic)))
  const store = openStore(stack.database(database))
  const stored = store.count(payments)
  store.close()
  if (stored !== orders.length) throw new Error(`${name}: ${stored} payments of ${orders.length} orders`)
}

function findings(events: number, contenders: { name: string; samples: Sample[] }[]): Findings {
  const summaries = contenders.map(({ name, samples }) => ({
    name,
    perSecond: medianOf(samples, ({ perSecond }) => perSecond),
    startSeconds: medianOf(samples, ({ startSeconds }) => startSeconds),
    microseconds: (['program', 'sidecar', 'kafka'] as const).map((process) =>
      medianOf(samples, (sample) => sample[process]),
    ),
    samples,
  }))
  const rate = (wanted: string) => summaries.find(({ name }) => name === wanted)?.perSecond ?? Number.NaN
  return {
    tables: [
      {
        title: `${number(events)} events per round, medians; start is the time until the first payment`,
        head: [
          '',
          'events/s',
          'ratio to direct',
          'start s',
          'processor µs per event: program',
          'sidecar',
          'Kafka',
          'all',
        ],
        rows: summaries.map(({ name, perSecond, startSeconds, microseconds }) => [
          ...[name, number(perSecond), number(perSecond / rate('direct pipeline'), 2), number(startSeconds, 1)],
          ...microseconds.map((value) => number(value)),
          number(microseconds.reduce((sum, value) => sum + value)),
        ]),
      },
    ],
    goals: [
      atLeast('events/s', rate('orderflow'), 5_000),
      atLeast('orderflow / naive Dapr', rate('orderflow') / rate('naive Dapr'), 8, 1),
      atLeast('orderflow / direct pipeline', rate('orderflow') / rate('direct pipeline'), 0.5, 2),
    ],
    figures: summaries,
  }
}
