import type { Envelope } from '@orderflow/envelope-schema'
import type { Handling } from '../telemetry/handling.ts'
import { newTraceId, placeIn, traceIdOf } from '../telemetry/trace.ts'
import type { Span, Tracing } from '../telemetry/tracing.ts'
import type { Delivery } from './delivery.ts'
import { processAttributes, topicAttributes } from './messaging.ts'

/**
 * The spans of a bulk delivery: one of each event that is recorded, in the trace of its TraceId, and one of the delivery, in a trace of its
 * own, to which these link. daprd makes none for a bulk delivery of raw payloads (1.18).
 */
export class DeliverySpan {
  readonly #tracing: Tracing
  readonly #topic: string
  readonly #group: string
  readonly #count: number
  #span: Span | undefined

  constructor(tracing: Tracing, { topic, group, count }: { topic: string; group: string; count: number }) {
    this.#tracing = tracing
    this.#topic = topic
    this.#group = group
    this.#count = count
  }

  /**
   * Begins the span of an event, if it is recorded. It is below the span that the record's header names, unless that is of another trace
   * than the event's TraceId: to that it links.
   */
  begin(handling: Handling, { traceparent, place }: Delivery, envelope: Envelope): void {
    const traceId = traceIdOf(envelope.TraceId)
    const publisher = traceparent === undefined ? undefined : placeIn(traceparent)
    const parent = publisher?.traceId === traceId ? publisher : undefined
    if (traceId === undefined || !this.#tracing.isSampled(traceId, parent)) return
    const delivery = this.#begun().place
    handling.span = this.#tracing.begin(`process ${this.#topic}`, traceId, parent, {
      kind: 'consumer',
      attributes: processAttributes(envelope, place, this.#group),
      links: publisher && !parent ? [delivery, publisher] : [delivery],
    })
  }

  #begun(): Span {
    this.#span ??= this.#tracing.begin(`receive ${this.#topic}`, newTraceId(), undefined, {
      kind: 'consumer',
      attributes: {
        ...topicAttributes('receive', this.#topic),
        'messaging.consumer.group.name': this.#group,
        'messaging.batch.message_count': this.#count,
      },
    })
    return this.#span
  }

  /** @param error of an event that will come again */
  end(error: string | undefined): void {
    this.#span?.end(error)
  }
}
