import { sidecarTraceVariables } from '@orderflow/service-kit/setup'
import type { StackPorts } from './services.ts'

export const jaegerUrl = ({ jaeger }: Pick<StackPorts, 'jaeger'>): string => `http://localhost:${jaeger}`

/**
 * Returns variables for services and sidecars, which send all traces to Jaeger and link to its page.
 * @param host the host at which services and sidecars reach Jaeger
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
