import { SpanKind } from '@opentelemetry/api'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace'
import { createTracing } from '../../src/telemetry/otel.ts'
import type { TraceSettings } from '../../src/telemetry/trace-settings.ts'

/** Records spans with the real SDK, in memory. */
export function recordedSpans(settings: Pick<TraceSettings, 'asksParent' | 'ratio'> = { asksParent: true, ratio: 1 }) {
  const exporter = new InMemorySpanExporter()
  const tracing = createTracing('a-service', settings, new SimpleSpanProcessor({ exporter }))
  return { tracing, spans: () => exporter.getFinishedSpans().map(told) }
}

export type ToldSpan = ReturnType<typeof told>

/** Returns the fields of an ended span that tests compare. */
function told(span: ReadableSpan) {
  const { name, kind, attributes, links, parentSpanContext, resource } = span
  const { traceId, spanId, traceFlags } = span.spanContext()
  return {
    name,
    kind: SpanKind[kind]?.toLowerCase(),
    traceId,
    spanId,
    traceFlags,
    parent: parentSpanContext?.spanId,
    links: links.map(({ context }) => context.spanId),
    attributes: { ...attributes } as Record<string, unknown>,
    service: resource.attributes['service.name'],
    isError: span.status.code === 2,
    message: span.status.message,
  }
}
