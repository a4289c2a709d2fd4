import { sidecarTraceVariables } from '@orderflow/service-kit/trace-settings'
import { jaegerVariables } from '../lib/jaeger.ts'
import type { Plan } from './plan.ts'
import { processState } from './run-record.ts'

/** The process that takes traces. */
export const jaeger = 'jaeger'

/**
 * What tells a service or a sidecar where its traces go, under its name: where the environment says, or else to the Jaeger that runs beside
 * the stack, which gets all of them unless the environment says how many.
 */
export function traceVariables({ folder, ports }: Plan, name: string, env: NodeJS.ProcessEnv): Record<string, string> {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: elsewhere, OTEL_TRACES_SAMPLER: sampler } = env
  if (elsewhere) return { OTEL_SERVICE_NAME: name, ...sidecarTraceVariables(env) }
  if (processState(folder, jaeger).state !== 'running') return {}
  const variables = { ...jaegerVariables('127.0.0.1', ports), OTEL_SERVICE_NAME: name }
  return sampler ? { ...variables, OTEL_TRACES_SAMPLER: sampler } : variables
}
