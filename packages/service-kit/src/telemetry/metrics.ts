import type { RequestListener } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
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
import { reactionBuckets } from '../application/reaction-buckets.ts'

export type Metrics = ReturnType<typeof createMetrics>

/** Creates a service's metrics. The metrics of the process are collected from the first scrape on. */
export function createMetrics() {
  const metrics = metricSet()
  let isScraped = false
  return {
    request: requestMetrics(metrics),
    topic: eventMetrics(metrics),
    queue: queueMetrics(metrics),
    /**
     * Adds a gauge of readiness for each part, such as the store. At each scrape, `ask` returns the parts that are not ready. If it takes longer than half a
     * second, the scrape reports the previous result.
     */
    readiness(parts: readonly string[], ask: () => Promise<object>): void {
      const newest = newestOf(ask)
      metrics.values('orderflow_ready', help.ready, 'part', async () => {
        const missing = await newest()
        return parts.map((part) => [part, part in missing ? 0 : 1])
      })
    },
    /** Adds a gauge of stalled subscriptions. At each scrape, `ask` returns the topics whose subscription has stalled. */
    stalled(topics: readonly string[], ask: () => ReadonlyMap<string, unknown>): void {
      const stalled = () => topics.map((topic): Value => [topic, ask().has(topic) ? 1 : 0])
      metrics.values('orderflow_subscription_stalled', help.stalled, 'topic', stalled)
    },
    /** Adds a gauge of late deadlines. @param askMs returns the time by which the oldest one is late, in milliseconds */
    overdue(askMs: () => number): void {
      metrics.gauge('orderflow_deadlines_overdue_seconds', help.overdue, [], (gauge) => gauge.set(askMs() / 1_000))
    },
    /** Answers `GET /metrics` in the OpenMetrics text format, and other requests with 404. */
    listener: metrics.listener(() => {
      // Called at the first scrape, because this call starts a timer that measures the event loop.
      if (!isScraped) collectDefaultMetrics({ register: metrics.registry })
      isScraped = true
    }),
  }
}

/** The longest wait of a scrape for the check of readiness. Prometheus gives up after a few seconds, and would then have no metrics at all. */
const maxWaitMs = 500

/** Returns a function that returns the result of `ask`, or the previous result if `ask` takes longer. It never asks twice at the same time. */
function newestOf<T>(ask: () => Promise<T>): () => Promise<T> {
  let previous: T | undefined
  let asking: Promise<T> | undefined
  return async () => {
    asking ??= ask()
      .then((result) => (previous = result))
      .finally(() => (asking = undefined))
    const current = asking
    const late = delay(maxWaitMs, undefined, { ref: false })
    return (await Promise.race([current, late])) ?? previous ?? (await current)
  }
}

function queueMetrics({ values, histogram }: MetricSet) {
  const waiting = new Map<string, () => number>()
  const depths = () => Array.from(waiting, ([queue, count]): Value => [queue, count()])
  values('orderflow_queue_depth', help.depths, 'queue', depths)
  const waits = histogram('orderflow_queue_wait_seconds', help.queueWaits, ['queue'], durations)
  const batches = histogram('orderflow_batch_size_items', 'Items in a batch.', ['queue'], sizes)
  const flushes = histogram('orderflow_flush_seconds', help.flushes, ['queue'], durations)

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
  /** The operation's method and route, as in OpenAPI; undefined if no operation matches the request. */
  operation: { method: string; route: string } | undefined
  /** The HTTP status; undefined if the client left before the answer. */
  status: number | undefined
  ms: number
}

/**
 * Counts requests and measures their duration. The metric has OpenTelemetry's name, but its label for the status has only the class, such as `2xx`.
 */
function requestMetrics({ histogram }: MetricSet): (request: AnsweredRequest) => void {
  const labels = ['method', 'route', 'status'] as const
  const seconds = histogram('http_server_request_duration_seconds', help.requests, labels, durations)
  return ({ operation = { method: other, route: other }, status, ms }) => {
    const answer = status === undefined ? 'aborted' : `${Math.floor(status / 100)}xx`
    seconds.observe({ ...operation, status: answer }, ms / 1_000)
  }
}

/**
 * The outcome of an event. `duplicate`: the event changed nothing. `retried`: the platform failed, so the event will be delivered and counted again.
 */
export type Outcome = (typeof outcomes)[number]

const outcomes = ['handled', 'duplicate', 'dead-letter', 'unhandled', 'retried'] as const

export type TopicMetrics = ReturnType<ReturnType<typeof eventMetrics>>

interface TopicState {
  isStopped: () => boolean
  /** Returns the highest number of deliveries of a record that still fails; 0 if no record fails. */
  mostDeliveries: () => number
}

/** The value of a label for all unknown names, because publishers could invent names. */
export const other = 'other'

/**
 * Creates the metrics of topics. The values of labels are only names from the code and the contract. So publishers cannot add time series or personal
 * data.
 */
function eventMetrics({ counter, gauge, values, histogram }: MetricSet) {
  const events = counter('orderflow_events_total', help.events, ['topic', 'outcome'])
  const deadLetters = counter('orderflow_dead_letters_total', help.deadLetters, ['topic', 'reason'])
  const unhandled = counter('orderflow_unhandled_events_total', help.unhandled, ['topic', 'event'])
  const reactions = histogram('orderflow_reaction_seconds', help.reactions, ['topic', 'event'], delays)
  const inFlight = gauge('orderflow_events_in_flight', 'Delivered events that are not answered yet.', ['topic'])
  const waits = histogram('orderflow_delivery_wait_seconds', help.waits, ['topic'], delays)
  const deliverySizes = histogram('orderflow_delivery_size_events', 'Events in a delivery.', ['topic'], sizes)
  const deliveries = histogram('orderflow_delivery_seconds', help.deliveries, ['topic'], durations)
  const states = new Map<string, TopicState>()
  const ofTopics = (read: (state: TopicState) => number) => () =>
    Array.from(states, ([topic, state]): Value => [topic, read(state)])
  const stopped = ofTopics(({ isStopped }) => (isStopped() ? 1 : 0))
  values('orderflow_topic_stopped', help.stopped, 'topic', stopped)
  const most = ofTopics(({ mostDeliveries }) => mostDeliveries())
  values('orderflow_record_deliveries', help.most, 'topic', most)
  const knownTypes = new Set<string>(eventTypes)

  return (topic: string, reasons: Iterable<string>, state?: TopicState) => {
    if (state) states.set(topic, state)
    // Each counter begins at 0, because an alert would miss the increase of a counter that appears with the value 1.
    for (const outcome of outcomes) events.inc({ topic, outcome }, 0)
    for (const reason of reasons) deadLetters.inc({ topic, reason }, 0)
    return {
      /** Begins to measure a delivery. */
      delivery() {
        const begun = performance.now()
        let count = 0
        return {
          /** Counts events that have arrived. */
          add(events: number): void {
            count += events
            inFlight.inc({ topic }, events)
          },
          /**
           * Ends the delivery, and counts the outcomes of its events.
           * @param waitedMs the time for which the oldest event was in the log before the delivery
           */
          end(all: readonly Outcome[], waitedMs: number): void {
            inFlight.dec({ topic }, count)
            deliverySizes.observe({ topic }, count)
            waits.observe({ topic }, waitedMs / 1_000)
            deliveries.observe({ topic }, (performance.now() - begun) / 1_000)
            for (const [outcome, { length }] of Map.groupBy(all, (each) => each)) events.inc({ topic, outcome }, length)
          },
        }
      },
      /** @param reason the code of the fault */
      deadLetter: (reason: string) => deadLetters.inc({ topic, reason }),
      /** @param type the `Name@Version`, which may be any text that a publisher sent */
      unhandled: (type: string) => unhandled.inc({ topic, event: knownTypes.has(type) ? type : other }),
      /** @param event the `Name@Version` of an event that has a handler */
      reacted: (event: string, ms: number) => reactions.observe({ topic, event }, ms / 1_000),
    }
  }
}

type MetricSet = ReturnType<typeof metricSet>

/** A value of a gauge, and of its label. */
type Value = readonly [label: string, number: number]

export function metricSet() {
  const registry = new Registry<OpenMetricsContentType>()
  registry.setContentType(openMetricsContentType)
  const registers = [registry]
  /** @param collect sets the values at each scrape */
  function gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    collect: (gauge: Gauge<Label>) => void | Promise<void> = () => {},
  ): Gauge<Label> {
    const gauge: Gauge<Label> = new Gauge({ name, help, labelNames, registers, collect: () => collect(gauge) })
    return gauge
  }
  return {
    registry,
    counter: <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
      new Counter({ name, help, labelNames, registers }),
    histogram: <Label extends string>(name: string, help: string, labelNames: readonly Label[], buckets: number[]) =>
      new Histogram({ name, help, labelNames, buckets, registers }),
    gauge,
    /** Adds a gauge with one label. @param read returns the values at each scrape */
    values(name: string, help: string, label: string, read: () => readonly Value[] | Promise<readonly Value[]>): void {
      gauge(name, help, [label], async (all) => {
        for (const [value, number] of await read()) all.set({ [label]: value }, number)
      })
    },
    /** @param before runs before each scrape */
    listener:
      (before: () => void | Promise<void>): RequestListener =>
      async ({ method, url }, response) => {
        if (method !== 'GET' || url !== '/metrics') return response.writeHead(404).end()
        try {
          await before()
          const text = await registry.metrics()
          response.writeHead(200, { 'content-type': registry.contentType }).end(text)
        } catch {
          response.writeHead(500).end()
        }
      },
  }
}

/** The help texts of the metrics, except short ones. */
const help = {
  ready: '1 if the part (sidecar, store or stream) is ready, as in /readyz; otherwise 0.',
  stalled: '1 if the sidecar has stopped delivering events of the topic, as in /livez; otherwise 0.',
  overdue: 'Time by which the oldest deadline of this replica is late that has not passed yet; 0 below a minute.',
  depths: 'Items that wait for the next batch: documents to store, or events to publish to a topic.',
  queueWaits: 'Time that the first item of a batch waited.',
  flushes: 'Time to store or publish a batch, including all attempts.',
  requests: 'Requests by operation and status class, until their answer was sent. Requests to unknown paths are other.',
  events: 'Delivered events by outcome. A retried event is counted again at its next delivery.',
  deadLetters: 'Events that can never be handled, by the reason of their dead letters.',
  unhandled: 'Events that the service has no handler for. Types without a schema are counted as other.',
  reactions:
    'Time from the arrival of the causing event in the log until its effect was handled, by the clocks of the broker and the service.',
  waits: 'Time that the oldest event of a delivery was in the log before the delivery.',
  deliveries: 'Time from a delivery until its answer.',
  stopped: '1 if the service has stopped consuming the topic, because too many events met a bug.',
  most: 'Deliveries of the unhandled record that was delivered most often; 0 if there is no such record.',
}

/** The buckets for durations inside a service, in seconds. They are few, because each bucket is a time series for each combination of labels. */
const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

const delays = [...reactionBuckets]

/** The buckets for numbers of items, up to the size of the largest batch. */
const sizes = [1, 5, 20, 50, 100, 200, 500]
