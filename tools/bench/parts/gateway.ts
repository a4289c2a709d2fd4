import { randomUUID } from 'node:crypto'
import { entryOf } from '@orderflow/stack'
import { type Findings, number } from '../report/findings.ts'
import type { Part } from '../report/part.ts'
import { withBenchStack } from '../support/bench-stack.ts'
import { countProcessorTime } from '../support/process-use.ts'

const programs = ['event-gateway', 'event-gateway-sidecar']
const inArray = 100

interface Sample {
  clients: number
  perSecond: number
  microseconds: Record<string, number>
}

export const gateway: Part = {
  title: `full envelopes posted to event-gateway in lists of ${inArray} until they are in the log`,

  measure: (run) =>
    withBenchStack(['kafka', ...programs], run.tell, async ({ plan }) => {
      const { http } = entryOf(plan.ports.services, 'event-gateway')
      const url = `http://127.0.0.1:${http}/v1/events/orderevents`
      const seconds = run.quick ? 3 : 15
      const samples: Sample[] = []
      await post(url, 8, run.quick ? 1 : 5)
      for (const clients of [1, 8, 32]) {
        run.tell(`${clients} clients for ${seconds} s`)
        const used = countProcessorTime(plan.folder)
        const events = await post(url, clients, seconds)
        const times = used()
        const each = ['kafka', ...programs].map((name) => [name, ((times[name] ?? Number.NaN) * 1_000) / events])
        samples.push({ clients, perSecond: events / seconds, microseconds: Object.fromEntries(each) })
      }
      return findings(samples)
    }),
}

/**
 * Posts lists of events from several clients. Returns the number of accepted events.
 * @throws {Error} if an event is not accepted
 */
async function post(url: string, clients: number, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1_000
  let events = 0
  async function client(): Promise<void> {
    while (performance.now() < end) {
      const body = JSON.stringify(Array.from({ length: inArray }, envelope))
      const { status } = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      if (status !== 202) throw new Error(`the gateway returned ${status}`)
      events += inArray
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return events
}

function envelope() {
  const trace = randomUUID()
  return {
    Id: randomUUID(),
    CorrelationId: trace,
    TraceId: trace,
    AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b',
    AppName: 'older-application',
    Version: 1,
    Name: 'OrderCreated',
    CreationDate: new Date(),
    Payload: { OrderId: randomUUID(), CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10 },
  }
}

function findings(samples: Sample[]): Findings {
  return {
    tables: [
      {
        title: 'The clients run on the same machine',
        head: ['clients', 'events/s', 'processor µs per event: gateway', 'sidecar', 'Kafka'],
        rows: samples.map(({ clients, perSecond, microseconds }) => [
          String(clients),
          number(perSecond),
          ...[...programs, 'kafka'].map((name) => number(microseconds[name] ?? Number.NaN)),
        ]),
      },
    ],
    goals: [],
    figures: samples,
  }
}
