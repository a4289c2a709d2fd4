import { sidecarTraceVariables } from '@orderflow/service-kit/trace-settings'
import type { StackPorts } from './ports.ts'

/** Where people look at traces, and programs ask for them (`/api/traces`). */
export const jaegerUrl = ({ jaeger }: Pick<StackPorts, 'jaeger'>): string => `http://localhost:${jaeger}`

/**
 * What tells services and sidecars to send all of their traces to a Jaeger, and people where they are looked at.
 * @param host where it is, for services and sidecars
 */
export function jaegerVariables(host: string, ports: Pick<StackPorts, 'otlp' | 'jaeger'>): Record<string, string> {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://${host}:${ports.otlp}` }
  return {
    ...endpoint,
    ...sidecarTraceVariables(endpoint),
    OTEL_TRACES_SAMPLER: 'parentbased_always_on',
    Telemetry__TracePage: `${jaegerUrl(ports)}/`,
  }
}
