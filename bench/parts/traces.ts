import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { ProcessSpec } from '@orderflow/stack/parts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { publishOrders } from '../support/events.ts'
import { atLeast, type Findings, number } from '../support/findings.ts'
import { type Load, postOrders } from '../support/load.ts'
import { inTurn, type Part, type Run } from '../support/part.ts'
import { startOrderService } from '../support/programs.ts'
import { median } from '../support/statistics.ts'
import { openStream } from '../support/stream.ts'
import { type Contender, pay, type Sample } from './outside.ts'

const connections = 256
const payer = ['payment-service', 'payment-sidecar']

/** The shares of traces that are recorded, by what the rows are called; undefined: none, and no collector is set. */
const shares = { 'no collector': undefined, 'a tenth': '0.1', all: '1' }

interface Measured {
  name: string
  paid: Sample[]
  posted: Load[]
}

/**
 * What does it cost to record traces? The same payment-service pays what outside publishers published, and an order-service takes
 * orders, each a new process in each round. The collector takes what it is sent, and does nothing with it.
 */
export const traces: Part = {
  title: 'events paid, and orders posted, while traces are recorded',

  measure: async (run) => {
    const collector = createServer((request, response) => request.resume().once('end', () => response.end()))
    await once(collector.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
    try {
      const paid = await withBenchStack(['kafka'], run.tell, (stack) => payInTurn(run, stack, url))
      const names = ['kafka', 'order-service', 'order-sidecar']
      const posted = await withBenchStack(names, run.tell, (stack) => postInTurn(run, stack, url))
      return findings(
        Object.keys(shares).map((name) => ({ name, paid: paid.get(name) ?? [], posted: posted.get(name) ?? [] })),
      )
    } finally {
      collector.close()
    }
  },
}

function variables(share: string | undefined, url: string): Record<string, string> {
  if (share === undefined) return {}
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_INSECURE: 'true',
    OTEL_TRACES_SAMPLER_ARG: share,
  }
}

async function payInTurn(run: Run, stack: BenchStack, url: string): Promise<Map<string, Sample[]>> {
  const { rounds, events } = run.quick ? { rounds: 1, events: 3_000 } : { rounds: 5, events: 40_000 }
  const stream = openStream(stack.kafka)
  // Each round begins with new processes, and so many events that what Node still has to compile of theirs counts little.
  const contenders = Object.entries(shares).map(([name, share]): Contender => {
    const traced = (program: string): ProcessSpec => {
      const spec = stack.specOf(program)
      return { ...spec, env: { ...spec.env, ...variables(share, url) } }
    }
    return { name, specs: payer.map(traced), topic: paymentEvents, database: 'payment' }
  })
  run.tell('warming up')
  for (const each of contenders) {
    await publishOrders(stream, 1_000)
    await pay(stack, stream, each, 1_000)
  }
  const samples = await inTurn(run, contenders, rounds, async (each) => {
    await publishOrders(stream, events)
    return pay(stack, stream, each, events)
  })
  await stream.close()
  return byName(samples)
}

async function postInTurn(run: Run, stack: BenchStack, url: string): Promise<Map<string, Load[]>> {
  const { rounds, seconds } = run.quick ? { rounds: 1, seconds: 2 } : { rounds: 7, seconds: 6 }
  const stream = openStream(stack.kafka)
  const sidecar = stack.specOf('order-sidecar')
  // All replicas use it: it records what belongs to a trace that is recorded.
  await stack.stop([sidecar])
  stack.launch([{ ...sidecar, env: { ...sidecar.env, ...variables('1', url) } }])
  const caughtUp = () =>
    stack.wait('order-service to catch up', [sidecar], async () => {
      const lag = await stream.lag(orderEvents, 'order-service')
      return lag > 0 ? `${lag} events behind` : undefined
    })
  // A new process in each round: two of the same program differ by more than what is asked here.
  const contenders = Object.entries(shares).map(([name, share]) => ({ name, env: variables(share, url) }))
  const loads = await inTurn(run, contenders, rounds, async ({ name, env }) => {
    const replica = await startOrderService(stack, name.replaceAll(/\W+/g, '-'), env)
    await postOrders(replica.url, { connections, seconds: Math.min(5, seconds) })
    await caughtUp()
    const load = await postOrders(replica.url, { connections, seconds })
    await stack.stop(replica.specs)
    return load
  })
  await stream.close()
  return byName(loads)
}

const byName = <T>(samples: Map<{ name: string }, T[]>): Map<string, T[]> =>
  new Map([...samples].map(([{ name }, found]) => [name, found]))

/** Of each round by itself: what the machine did meanwhile, it did to all of them. */
const ofFirst = (mine: number[], first: number[]) =>
  median(mine.map((value, round) => value / (first[round] ?? Number.NaN)))

function findings(measured: Measured[]): Findings {
  const paidPerSecond = ({ paid }: Measured) => paid.map(({ perSecond }) => perSecond)
  const postedPerSecond = ({ posted }: Measured) => posted.map(({ perSecond }) => perSecond)
  const [plain] = measured as [Measured, ...Measured[]]
  const summaries = measured.map((each) => ({
    name: each.name,
    paid: median(paidPerSecond(each)),
    paidOfPlain: ofFirst(paidPerSecond(each), paidPerSecond(plain)),
    microseconds: median(each.paid.map(({ program }) => program)),
    sidecarMicroseconds: median(each.paid.map(({ sidecar }) => sidecar)),
    posted: median(postedPerSecond(each)),
    postedOfPlain: ofFirst(postedPerSecond(each), postedPerSecond(plain)),
    samples: each,
  }))
  const tenth = summaries.find(({ name }) => name === 'a tenth')
  return {
    tables: [
      {
        title: 'Medians of the rounds; each ratio is of the rounds by themselves',
        head: ['recorded', 'events paid/s', 'ratio', 'µs per event: service', 'sidecar', 'orders posted/s', 'ratio'],
        rows: summaries.map((each) => [
          each.name,
          number(each.paid),
          number(each.paidOfPlain, 3),
          number(each.microseconds),
          number(each.sidecarMicroseconds),
          number(each.posted),
          number(each.postedOfPlain, 3),
        ]),
      },
    ],
    goals: [
      atLeast('a tenth / no collector, events paid', tenth?.paidOfPlain ?? Number.NaN, 0.95, 3),
      atLeast('a tenth / no collector, orders posted', tenth?.postedOfPlain ?? Number.NaN, 0.95, 3),
    ],
    charts: [],
    figures: summaries,
  }
}
