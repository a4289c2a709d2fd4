import type { RequestListener } from 'node:http'
import { eventTypes } from '@orderflow/envelope'
import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type OpenMetricsContentType,
  openMetricsContentType,
  Registry,
} from 'prom-client'

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
function queueMetrics(registry: MetricsRegistry) {
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

interface AnsweredRequest {
  /** Undefined for a request that matches no operation. The route is written as in OpenAPI. */
  operation: { method: string; route: string } | undefined
  /** Undefined when the client left before the answer. */
  status: number | undefined
  ms: number
}

/** Counts and times requests. The metric has OpenTelemetry's name, but its status label is the status class instead of the number. */
function requestMetrics(registry: MetricsRegistry): (request: AnsweredRequest) => void {
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

/**
 * The outcome of an event. `duplicate`: handled without a change. `retried`: the platform failed, so it is delivered and counted again. All
 * other outcomes are final.
 */
export type Outcome = (typeof outcomes)[number]

const outcomes = ['handled', 'duplicate', 'dead-letter', 'unhandled', 'retried'] as const

/** The metrics of one topic. */
export interface TopicMetrics {
  /** Counts a delivery, whose oldest event waited in the log for `waitedMs`. Returns a function to call with the outcomes. */
  delivered: (events: number, waitedMs: number) => (outcomes: readonly Outcome[]) => void
  /** @param reason the code of a fault */
  deadLetter: (reason: string) => void
  /** @param type `Name@Version`; any text of a publisher */
  unhandled: (type: string) => void
  /** @param type a handled `Name@Version` */
  reacted: (type: string, ms: number) => void
}

/** A consumer's state of a topic, which is read for each scrape. */
interface TopicState {
  isStopped: () => boolean
  /** Returns the highest number of deliveries of an unhandled record; 0 without one. */
  mostDeliveries: () => number
}

/** Replaces unknown names, of which publishers may send any number. */
export const other = 'other'

/** Creates the metrics of topics. Labels only have names of the code and the contract, so publishers add neither time series nor personal data. */
function eventMetrics(
  registry: MetricsRegistry,
): (topic: string, reasons: Iterable<string>, state?: TopicState) => TopicMetrics {
  const registers = [registry]
  const events = new Counter({
    name: 'orderflow_events_total',
    help: 'Events that were delivered, by what became of them. A retried one is counted again when it comes again.',
    labelNames: ['topic', 'outcome'],
    registers,
  })
  const deadLetters = new Counter({
    name: 'orderflow_dead_letters_total',
    help: 'Events that can never be handled, by the reason on their dead letters.',
    labelNames: ['topic', 'reason'],
    registers,
  })
  const unhandled = new Counter({
    name: 'orderflow_unhandled_events_total',
    help: 'Events that the service has no handler for. A type without a schema counts as other.',
    labelNames: ['topic', 'event'],
    registers,
  })
  const reactions = new Histogram({
    name: 'orderflow_reaction_seconds',
    help: 'From when the event that caused this one reached the log, until this one was handled. By the clocks of broker and service.',
    labelNames: ['topic', 'event'],
    buckets: delays,
    registers,
  })
  const inFlight = new Gauge({
    name: 'orderflow_events_in_flight',
    help: 'Events that were delivered and are not answered yet.',
    labelNames: ['topic'],
    registers,
  })
  const waits = new Histogram({
    name: 'orderflow_delivery_wait_seconds',
    help: 'How long the oldest event of a delivery was in the log before it came.',
    labelNames: ['topic'],
    buckets: delays,
    registers,
  })
  const deliverySizes = new Histogram({
    name: 'orderflow_delivery_size_events',
    help: 'Events in a delivery.',
    labelNames: ['topic'],
    buckets: sizes,
    registers,
  })
  const deliveries = new Histogram({
    name: 'orderflow_delivery_seconds',
    help: 'From when a delivery came until it was answered.',
    labelNames: ['topic'],
    buckets: durations,
    registers,
  })
  const states = new Map<string, TopicState>()
  new Gauge({
    name: 'orderflow_topic_stopped',
    help: 'Whether the service no longer consumes the topic (1), because too many of its events met a bug.',
    labelNames: ['topic'],
    registers,
    collect() {
      for (const [topic, { isStopped }] of states) this.set({ topic }, isStopped() ? 1 : 0)
    },
  })
  new Gauge({
    name: 'orderflow_record_deliveries',
    help: 'How often the record was delivered that was delivered most often and is not handled yet; 0 without one.',
    labelNames: ['topic'],
    registers,
    collect() {
      for (const [topic, { mostDeliveries }] of states) this.set({ topic }, mostDeliveries())
    },
  })
  const knownTypes = new Set<string>(eventTypes)

  return (topic, reasons, state) => {
    if (state) states.set(topic, state)
    // Counters begin at 0, because an alert would miss the increase of one that begins with its first event.
    for (const outcome of outcomes) events.inc({ topic, outcome }, 0)
    for (const reason of reasons) deadLetters.inc({ topic, reason }, 0)
    return {
      delivered(count, waitedMs) {
        const begun = performance.now()
        inFlight.inc({ topic }, count)
        deliverySizes.observe({ topic }, count)
        waits.observe({ topic }, waitedMs / 1_000)
        return (all) => {
          inFlight.dec({ topic }, count)
          deliveries.observe({ topic }, (performance.now() - begun) / 1_000)
          for (const [outcome, { length }] of Map.groupBy(all, (each) => each)) events.inc({ topic, outcome }, length)
        }
      },
      deadLetter: (reason) => deadLetters.inc({ topic, reason }),
      unhandled: (type) => unhandled.inc({ topic, event: knownTypes.has(type) ? type : other }),
      reacted: (event, ms) => reactions.observe({ topic, event }, ms / 1_000),
    }
  }
}

/** Metrics that are served together, in the text format of OpenMetrics 1.0. */
type MetricsRegistry = Registry<OpenMetricsContentType>

export function createRegistry(): MetricsRegistry {
  const registry: MetricsRegistry = new Registry<OpenMetricsContentType>()
  registry.setContentType(openMetricsContentType)
  return registry
}

/**
 * Returns a listener for `GET /metrics`. It answers other requests with 404.
 * @param before runs before each scrape
 */
export function listenerOf(registry: MetricsRegistry, before: () => void | Promise<void>): RequestListener {
  return async ({ method, url }, response) => {
    if (method !== 'GET' || url !== '/metrics') return response.writeHead(404).end()
    try {
      await before()
      const text = await registry.metrics()
      response.writeHead(200, { 'content-type': registry.contentType }).end(text)
    } catch {
      response.writeHead(500).end()
    }
  }
}

/** Buckets in seconds for durations inside a service. Each bucket is a time series per combination of labels. */
export const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Buckets in seconds from one event to another. Services, sidecars and the broker between them may be away for a while. */
export const delays = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600]

/** Buckets for numbers of items, up to the largest batch. */
export const sizes = [1, 5, 20, 50, 100, 200, 500]
