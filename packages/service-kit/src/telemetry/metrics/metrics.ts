import type { RequestListener } from 'node:http'
import { collectDefaultMetrics, Gauge, Histogram } from 'prom-client'
import { eventMetrics, other } from './events.ts'
import { createRegistry, durations, listenerOf, type MetricsRegistry, sizes } from './registry.ts'

/** A service's metrics. */
export interface Metrics {
  request: (request: AnsweredRequest) => void
  topic: ReturnType<typeof eventMetrics>
  queue: ReturnType<typeof queueMetrics>
  /** Adds a gauge per part. `ask` returns the missing parts, and runs for each scrape. */
  readiness: (parts: readonly string[], ask: () => Promise<object>) => void
  /** Answers `GET /metrics` in the OpenMetrics text format, and other requests with 404. */
  listener: RequestListener
}

/** Creates a service's metrics. Metrics of the process are collected from the first scrape on, so they cost nothing without a scraper. */
export function createMetrics(): Metrics {
  const registry = createRegistry()
  let isScraped = false
  return {
    request: requestMetrics(registry),
    topic: eventMetrics(registry),
    queue: queueMetrics(registry),
    readiness(parts, ask) {
      new Gauge({
        name: 'orderflow_ready',
        help: 'Whether a part that the service needs is ready (1), as its /readyz says.',
        labelNames: ['part'],
        registers: [registry],
        async collect() {
          const missing = await ask()
          for (const part of parts) this.set({ part }, part in missing ? 0 : 1)
        },
      })
    },
    listener: listenerOf(registry, () => {
      // Starts a timer that measures the event loop.
      if (!isScraped) collectDefaultMetrics({ register: registry })
      isScraped = true
    }),
  }
}

/** Measures the queues of a service's batches, by name (`QueueWatch`). */
export function queueMetrics(registry: MetricsRegistry) {
  const registers = [registry]
  const waiting = new Map<string, () => number>()
  new Gauge({
    name: 'orderflow_queue_depth',
    help: 'Items that wait for the next batch: documents to be stored, events to be published to a topic.',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, count] of waiting) this.set({ queue }, count())
    },
  })
  const waits = new Histogram({
    name: 'orderflow_queue_wait_seconds',
    help: 'How long the first item of a batch waited for it.',
    labelNames: ['queue'],
    buckets: durations,
    registers,
  })
  const batches = new Histogram({
    name: 'orderflow_batch_size_items',
    help: 'Items in a batch.',
    labelNames: ['queue'],
    buckets: sizes,
    registers,
  })
  const flushes = new Histogram({
    name: 'orderflow_flush_seconds',
    help: 'How long it took to store or publish a batch, with all attempts.',
    labelNames: ['queue'],
    buckets: durations,
    registers,
  })

  return (queue: string) => ({
    opened: (count: () => number) => void waiting.set(queue, count),
    flushed(items: number, waitedMs: number, tookMs: number) {
      batches.observe({ queue }, items)
      waits.observe({ queue }, waitedMs / 1_000)
      flushes.observe({ queue }, tookMs / 1_000)
    },
  })
}

export interface AnsweredRequest {
  /** Undefined for a request that matches no operation. The route is written as in OpenAPI. */
  operation: { method: string; route: string } | undefined
  /** Undefined when the client left before the answer. */
  status: number | undefined
  ms: number
}

/** Counts and times requests. The metric has OpenTelemetry's name, but its status label is the status class instead of the number. */
export function requestMetrics(registry: MetricsRegistry): (request: AnsweredRequest) => void {
  const seconds = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Requests by operation and class of status, until their answer was sent. All that is no operation is other.',
    labelNames: ['method', 'route', 'status'],
    buckets: durations,
    registers: [registry],
  })
  return ({ operation = { method: other, route: other }, status, ms }) => {
    const answer = status === undefined ? 'aborted' : `${Math.floor(status / 100)}xx`
    seconds.observe({ ...operation, status: answer }, ms / 1_000)
  }
}
