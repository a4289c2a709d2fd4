import { sidecarTraceVariables } from '@orderflow/service-kit/trace-settings'
import type { StackPorts } from '../lib/ports.ts'
import type { Plan } from './plan.ts'
import { processState } from './run-record.ts'

/** The process that takes traces. */
export const jaeger = 'jaeger'

/** Where people look at traces, and programs ask for them (`/api/traces`). */
export const jaegerUrl = ({ jaeger: port }: Pick<StackPorts, 'jaeger'>): string => `http://127.0.0.1:${port}`

/**
 * What tells a service or a sidecar where its traces go, under its name: where the environment says, or else to the Jaeger that runs beside
 * the stack, which gets all of them unless the environment says how many.
 */
export function traceVariables({ folder, ports }: Plan, name: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: elsewhere, OTEL_TRACES_SAMPLER: sampler = 'parentbased_always_on' } = env
  if (elsewhere) return { OTEL_SERVICE_NAME: name, ...sidecarTraceVariables(env) }
  if (processState(folder, jaeger).state !== 'running') return {}
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${ports.otlp}`, OTEL_TRACES_SAMPLER: sampler }
  return {
    ...endpoint,
    ...sidecarTraceVariables(endpoint),
    OTEL_SERVICE_NAME: name,
    Telemetry__TracePage: `${jaegerUrl(ports)}/`,
  }
}
