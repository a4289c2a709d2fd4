import {
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
  RandomIdGenerator,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Span, SpanContext, SpanKind, SpanOptions, Tracing } from './context.ts'
import type { TraceSettings } from './trace-settings.ts'

// This module is loaded only if a collector is set, because loading the SDK takes memory and part of a second.

/** The number of spans that may wait to be sent. A batch of events has a few thousand spans. */
const maxQueueSize = 16_384

/**
 * Records traces and sends them as OTLP over HTTP. The exporter reads the standard variables (`OTEL_EXPORTER_OTLP_ENDPOINT` and others).
 * @param onError receives each failure to send spans
 */
export function otlpTracing(service: string, settings: TraceSettings, onError: (error: unknown) => void): Tracing {
  setGlobalErrorHandler(onError)
  const { delayMs: scheduledDelayMillis } = settings
  const exporter = new OTLPTraceExporter()
  return createTracing(service, settings, new BatchSpanProcessor({ exporter, scheduledDelayMillis, maxQueueSize }))
}

export function createTracing(
  service: string,
  settings: Pick<TraceSettings, 'asksParent' | 'ratio'>,
  processor: SpanProcessor,
): Tracing {
  const named = resourceFromAttributes({ 'service.name': service })
  const resource = defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [envDetector] }))
  const random = new RandomIdGenerator()
  /** The SDK cannot pass the id of a trace, so `next` has the id of the next trace. */
  const ids = { next: '', generateTraceId: (): string => ids.next, generateSpanId: () => random.generateSpanId() }
  // The sampler accepts all spans, because `isSampled` decides before the first span of a trace.
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

function begin(tracer: Tracer, name: string, options: SpanOptions, parent: Context): Span {
  const { kind, attributes = {}, links = [] } = options
  const apiOptions = {
    kind: ApiSpanKind[kind.toUpperCase() as Uppercase<SpanKind>],
    attributes,
    links: links.map((link) => ({ context: contextOf(link) })),
  }
  const span = tracer.startSpan(name, apiOptions, parent)
  const { traceId, spanId } = span.spanContext()
  return {
    context: { traceId, spanId, isSampled: true },
    child: (name, options) => begin(tracer, name, options, trace.setSpan(ROOT_CONTEXT, span)),
    rename: (name) => void span.updateName(name),
    set: (attributes) => void span.setAttributes(attributes),
    end(error) {
      if (error !== undefined) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        span.setAttribute('error.type', error)
      }
      span.end()
    },
  }
}

function contextOf({ traceId, spanId, isSampled }: SpanContext) {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE }
}
