import { type Envelope, typeOf } from '@orderflow/envelope-schema'
import { type Handling, noteIds } from '../telemetry/handling.ts'
import type { Outcome, TopicMetrics } from '../telemetry/metrics/events.ts'
import { newTraceId, placeIn, type Span, type Tracing, traceIdOf } from '../telemetry/traces/trace.ts'
import type { BulkEntry, Delivery } from './delivery.ts'
import { processAttributes, topicAttributes } from './messaging.ts'

/** What of a topic is told, and by whose name. */
export interface Observed {
  topic: string
  group: string
  /** `Name@Version` of what is handled. */
  types: ReadonlySet<string>
  metrics: Pick<TopicMetrics, 'delivered'>
  /** Undefined where no trace is recorded. */
  tracing: Tracing | undefined
}

/**
 * A bulk delivery as metrics and traces tell of it. Its spans: one of each event that is recorded, in the trace of its TraceId, and one of the
 * delivery, in a trace of its own, to which these link. daprd makes none for a bulk delivery of raw payloads (1.18).
 */
export class ObservedDelivery {
  readonly #observed: Observed
  readonly #count: number
  readonly #counted: (outcomes: readonly Outcome[]) => void
  #span: Span | undefined

  constructor(entries: readonly BulkEntry[], now: Date, observed: Observed) {
    this.#observed = observed
    this.#count = entries.length
    this.#counted = observed.metrics.delivered(entries.length, oldestWait(entries, now))
  }

  /** Notes the ids of an event that is being handled, and begins its span, if it is recorded. */
  read(handling: Handling, delivery: Delivery, envelope: Envelope): void {
    noteIds(envelope)
    const { tracing, types } = this.#observed
    handling.span = tracing && this.#begin(tracing, delivery, envelope)
    if (!handling.span) return
    const type = typeOf(envelope)
    if (types.has(type)) handling.span.set({ 'orderflow.event.type': type })
  }

  /**
   * The span is below the one that the record's header names, unless that is of another trace than the event's TraceId: to that it links.
   */
  #begin(tracing: Tracing, { traceparent, place }: Delivery, envelope: Envelope): Span | undefined {
    const { topic, group } = this.#observed
    const traceId = traceIdOf(envelope.TraceId)
    const publisher = traceparent === undefined ? undefined : placeIn(traceparent)
    const parent = publisher?.traceId === traceId ? publisher : undefined
    if (traceId === undefined || !tracing.isSampled(traceId, parent)) return undefined
    const delivery = this.#begun(tracing).place
    return tracing.begin(`process ${topic}`, traceId, parent, {
      kind: 'consumer',
      attributes: processAttributes(envelope, place, group),
      links: publisher && !parent ? [delivery, publisher] : [delivery],
    })
  }

  #begun(tracing: Tracing): Span {
    const { topic, group } = this.#observed
    this.#span ??= tracing.begin(`receive ${topic}`, newTraceId(), undefined, {
      kind: 'consumer',
      attributes: {
        ...topicAttributes('receive', topic),
        'messaging.consumer.group.name': group,
        'messaging.batch.message_count': this.#count,
      },
    })
    return this.#span
  }

  /** @param error of an event that will come again */
  end(outcomes: readonly Outcome[], error: string | undefined): void {
    this.#counted(outcomes)
    this.#span?.end(error)
  }
}

/** Returns how long the oldest of them was in the log, in milliseconds; 0 where the broker's time is missing. */
function oldestWait(entries: readonly BulkEntry[], now: Date): number {
  let oldest = now.getTime()
  for (const { metadata } of entries) {
    const arrivedAt = Number(metadata.__timestamp)
    if (arrivedAt > 0 && arrivedAt < oldest) oldest = arrivedAt
  }
  return now.getTime() - oldest
}
