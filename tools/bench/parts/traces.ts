import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { ProcessSpec } from '@orderflow/stack/internals'
import { atLeast, type Findings, number } from '../report/findings.ts'
import { inTurn, type Part, type Run } from '../report/part.ts'
import { median, medianRatio } from '../report/statistics.ts'
import { type BenchStack, withBenchStack } from '../support/bench-stack.ts'
import { untilCaughtUp } from '../support/caught-up.ts'
import { type Load, postOrders } from '../support/load.ts'
import { startOrderService } from '../support/programs.ts'
import { openStream } from '../support/stream.ts'
import { type Contender, payInTurn, type Sample } from './outside.ts'

const connections = 256
const payer = ['payment-service', 'payment-sidecar']

interface Variant {
  name: string
  /** The share of traces that are recorded, or undefined without a collector. */
  share?: string
}

interface Measured {
  name: string
  paid: Sample[]
  posted: Load[]
}

/** The collector of traces drops everything. */
export const traces: Part = {
  title: 'events paid, and orders posted, while traces are recorded',

  measure: async (run) => {
    const collector = createServer((request, response) => request.resume().once('end', () => response.end()))
    await once(collector.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`
    try {
      const paid = await withBenchStack(['kafka'], run.tell, (stack) => payVariants(run, stack, url))
      const names = ['kafka', 'order-service', 'order-sidecar']
      const posted = await withBenchStack(names, run.tell, (stack) => postVariants(run, stack, url))
      return findings(
        variants.map(({ name }) => ({ name, paid: paid.get(name) ?? [], posted: posted.get(name) ?? [] })),
      )
    } finally {
      collector.close()
    }
  },
}

const variants: Variant[] = [{ name: 'no collector' }, { name: 'a tenth', share: '0.1' }, { name: 'all', share: '1' }]

function variables(share: string | undefined, url: string): Record<string, string> {
  if (share === undefined) return {}
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_INSECURE: 'true',
    OTEL_TRACES_SAMPLER_ARG: share,
  }
}

async function payVariants(run: Run, stack: BenchStack, url: string): Promise<Map<string, Sample[]>> {
  const { rounds, events } = run.quick ? { rounds: 1, events: 3_000 } : { rounds: 5, events: 100_000 }
  // Measures only the second half of the events, because Node compiles frequently used code during the first half.
  const contenders = variants.map(({ name, share }): Contender => {
    const traced = (program: string): ProcessSpec => {
      const spec = stack.specOf(program)
      return { ...spec, env: { ...spec.env, ...variables(share, url) } }
    }
    return { name, specs: payer.map(traced), topic: paymentEvents, database: 'payment' }
  })
  const samples = await payInTurn(run, stack, contenders, { rounds, events, warm: events / 2 })
  return byName(samples)
}

async function postVariants(run: Run, stack: BenchStack, url: string): Promise<Map<string, Load[]>> {
  const { rounds, seconds } = run.quick ? { rounds: 1, seconds: 2 } : { rounds: 5, seconds: 6 }
  const stream = openStream(stack.kafka)
  const sidecar = stack.specOf('order-sidecar')
  // All replicas use this sidecar, which records the spans of recorded traces.
  await stack.stop([sidecar])
  stack.launch([{ ...sidecar, env: { ...sidecar.env, ...variables('1', url) } }])
  // Each round starts a new process, because two processes differ by more than the cost of tracing.
  const loads = await inTurn(run, variants, rounds, async ({ name, share }) => {
    const replica = await startOrderService(stack, name.replaceAll(/\W+/g, '-'), variables(share, url))
    await postOrders(replica.url, { connections, seconds: Math.min(5, seconds) })
    await untilCaughtUp(stack, stream, [['order-service', orderEvents]], [sidecar])
    const load = await postOrders(replica.url, { connections, seconds })
    await stack.stop(replica.specs)
    return load
  })
  await stream.close()
  return byName(loads)
}

const byName = <T>(samples: Map<{ name: string }, T[]>): Map<string, T[]> =>
  new Map([...samples].map(([{ name }, found]) => [name, found]))

function findings(measured: Measured[]): Findings {
  const paidPerSecond = ({ paid }: Measured) => paid.map(({ perSecond }) => perSecond)
  const postedPerSecond = ({ posted }: Measured) => posted.map(({ perSecond }) => perSecond)
  const [plain] = measured as [Measured, ...Measured[]]
  const summaries = measured.map((each) => ({
    name: each.name,
    paid: median(paidPerSecond(each)),
    paidOfPlain: medianRatio(paidPerSecond(each), paidPerSecond(plain)),
    microseconds: median(each.paid.map(({ program }) => program)),
    sidecarMicroseconds: median(each.paid.map(({ sidecar }) => sidecar)),
    posted: median(postedPerSecond(each)),
    postedOfPlain: medianRatio(postedPerSecond(each), postedPerSecond(plain)),
    samples: each,
  }))
  const tenth = summaries.find(({ name }) => name === 'a tenth')
  return {
    tables: [
      {
        title: 'Medians of the rounds; each ratio is the median of the ratios of single rounds',
        head: [
          'recorded traces',
          'events paid/s',
          'ratio',
          'µs per event: service',
          'sidecar',
          'orders posted/s',
          'ratio',
        ],
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
      atLeast('events paid, a tenth of the traces recorded / no collector', tenth?.paidOfPlain ?? Number.NaN, 0.95, 3),
      atLeast(
        'orders posted, a tenth of the traces recorded / no collector',
        tenth?.postedOfPlain ?? Number.NaN,
        0.95,
        3,
      ),
    ],
    figures: summaries,
  }
}
