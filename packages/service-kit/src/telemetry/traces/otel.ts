import {
  type Attributes as ApiAttributes,
  type Span as ApiSpan,
  SpanKind as ApiSpanKind,
  type Context,
  ROOT_CONTEXT,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import { setGlobalErrorHandler } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { SpanPlace } from './trace.ts'
import type { TraceSettings } from './trace-settings.ts'
import type { Attributes, Span, SpanKind, SpanOptions, Tracing } from './tracing.ts'

// Loaded only where there is a collector: the SDK takes memory, and a part of a second.

const kinds: Record<SpanKind, ApiSpanKind> = {
  server: ApiSpanKind.SERVER,
  client: ApiSpanKind.CLIENT,
  producer: ApiSpanKind.PRODUCER,
  consumer: ApiSpanKind.CONSUMER,
  internal: ApiSpanKind.INTERNAL,
}

/** Spans that wait to be sent. More are dropped: a batch of events is some thousand. */
const maxQueueSize = 16_384

/**
 * Sends spans to where the standard variables say (`OTEL_EXPORTER_OTLP_ENDPOINT` and others, which the exporter reads itself): OTLP over HTTP.
 * @param onError told of each time at which spans could not be sent
 */
export function otlpTracing(service: string, settings: TraceSettings, onError: (error: unknown) => void): Tracing {
  setGlobalErrorHandler(onError)
  const { delayMs: scheduledDelayMillis } = settings
  const exporter = new OTLPTraceExporter()
  return createTracing(service, settings, new BatchSpanProcessor({ exporter, scheduledDelayMillis, maxQueueSize }))
}

/** Records what is sampled, and nothing of the rest. */
export function createTracing(
  service: string,
  settings: Pick<TraceSettings, 'asksParent' | 'ratio'>,
  processor: SpanProcessor,
): Tracing {
  const named = resourceFromAttributes({ 'service.name': service })
  const resource = defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }))
  const ids = new TraceIds()
  // Whether to sample is asked once for a trace, before anything is made of it.
  const provider = new TracerProvider({
    resource,
    sampler: new AlwaysOnSampler(),
    idGenerator: ids,
    spanProcessors: [processor],
  })
  const tracer = provider.getTracer('orderflow')
  const ratio = new TraceIdRatioBasedSampler(settings.ratio)
  return {
    isSampled(traceId, parent) {
      if (settings.asksParent && parent) return parent.isSampled
      return ratio.shouldSample(ROOT_CONTEXT, traceId).decision === SamplingDecision.RECORD_AND_SAMPLED
    },
    begin(name, traceId, parent, options) {
      ids.next = traceId
      const context = parent
        ? trace.setSpanContext(ROOT_CONTEXT, { ...contextOf(parent), isRemote: true })
        : ROOT_CONTEXT
      return begin(tracer, name, options, context)
    },
    stop: () => provider.shutdown(),
  }
}

/** The first span of a trace has the trace's id from whoever begins it: the SDK asks for one, and says nothing of what for. */
class TraceIds implements IdGenerator {
  next = ''
  readonly #random = new RandomIdGenerator()
  generateTraceId = () => this.next
  generateSpanId = () => this.#random.generateSpanId()
}

function begin(tracer: Tracer, name: string, options: SpanOptions, context: Context): Span {
  const { kind, attributes = {}, links = [] } = options
  const span = tracer.startSpan(
    name,
    {
      kind: kinds[kind],
      attributes: attributes as ApiAttributes,
      links: links.map((place) => ({ context: contextOf(place) })),
    },
    context,
  )
  return new RecordedSpan(tracer, span)
}

class RecordedSpan implements Span {
  readonly place: SpanPlace
  readonly #tracer: Tracer
  readonly #span: ApiSpan

  constructor(tracer: Tracer, span: ApiSpan) {
    const { traceId, spanId } = span.spanContext()
    this.place = { traceId, spanId, isSampled: true }
    this.#tracer = tracer
    this.#span = span
  }

  child(name: string, options: SpanOptions): Span {
    return begin(this.#tracer, name, options, trace.setSpan(ROOT_CONTEXT, this.#span))
  }

  rename(name: string): void {
    this.#span.updateName(name)
  }

  set(attributes: Attributes): void {
    this.#span.setAttributes(attributes as ApiAttributes)
  }

  link(place: SpanPlace): void {
    this.#span.addLink({ context: contextOf(place) })
  }

  end(error?: string): void {
    if (error !== undefined) {
      this.#span.setStatus({ code: SpanStatusCode.ERROR })
      this.#span.setAttribute('error.type', error)
    }
    this.#span.end()
  }
}

function contextOf({ traceId, spanId, isSampled }: SpanPlace) {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE }
}
