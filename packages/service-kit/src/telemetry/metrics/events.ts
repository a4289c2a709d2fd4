import { eventTypes } from '@orderflow/envelope'
import { Counter, Gauge, Histogram } from 'prom-client'
import { delays, durations, type MetricsRegistry, sizes } from './registry.ts'

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
export interface TopicState {
  isStopped: () => boolean
  /** Returns the highest number of deliveries of an unhandled record; 0 without one. */
  mostDeliveries: () => number
}

/** Replaces unknown names, of which publishers may send any number. */
export const other = 'other'

/** Creates the metrics of topics. Labels only have names of the code and the contract, so publishers add neither time series nor personal data. */
export function eventMetrics(
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
