/**
 * The settings of traces, from OpenTelemetry's standard variables
 * (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
 */
export interface TraceSettings {
  /** True if a received `traceparent` decides whether its trace is recorded. */
  asksParent: boolean
  /** The share of traces to record, from 0 to 1, if no `traceparent` decides. */
  ratio: number
  /** The time for which spans wait until they are sent, in milliseconds. */
  delayMs: number
}

/** The default records one of ten traces, which costs little. */
const usualRatio = '0.1'
const usualDelayMs = '5000'

/** The standard samplers. If a sampler has no ratio here, OTEL_TRACES_SAMPLER_ARG sets the ratio. */
const samplers: Record<string, { asksParent: boolean; ratio?: number }> = {
  always_on: { asksParent: false, ratio: 1 },
  always_off: { asksParent: false, ratio: 0 },
  traceidratio: { asksParent: false },
  parentbased_always_on: { asksParent: true, ratio: 1 },
  parentbased_always_off: { asksParent: true, ratio: 0 },
  parentbased_traceidratio: { asksParent: true },
}

function endpointIn(env: NodeJS.ProcessEnv): [variable: string, url: string] | undefined {
  const variable = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'].find((name) => env[name])
  return variable ? [variable, env[variable] as string] : undefined
}

/** Returns the settings of traces; undefined if no collector is set. */
export function traceSettings(env: NodeJS.ProcessEnv): TraceSettings | undefined {
  if (!endpointIn(env) || env.OTEL_SDK_DISABLED === 'true') return undefined
  const { asksParent, ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || usualRatio) } = samplerIn(env) ?? {
    asksParent: true,
  }
  return { asksParent, ratio, delayMs: delayIn(env) }
}

const delayIn = ({ OTEL_BSP_SCHEDULE_DELAY: delay }: NodeJS.ProcessEnv) => Number(delay || usualDelayMs)

const samplerIn = ({ OTEL_TRACES_SAMPLER: name }: NodeJS.ProcessEnv) => samplers[name || 'parentbased_traceidratio']

/** Returns a line for each variable with a wrong value. The SDK would silently use a default instead. */
export function traceProblems(env: NodeJS.ProcessEnv): string[] {
  const [variable, url] = endpointIn(env) ?? []
  if (!variable || !url) return []
  const isUrl = /^https?:$/.test(URL.parse(url)?.protocol ?? '')
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf'
  const ratio = Number(env.OTEL_TRACES_SAMPLER_ARG || usualRatio)
  return [
    ...(isUrl ? [] : [`${variable}: must be a URL of http or https, such as http://127.0.0.1:4318`]),
    ...(protocol === 'http/protobuf' ? [] : ['OTEL_EXPORTER_OTLP_PROTOCOL: must be http/protobuf, or left out']),
    ...(samplerIn(env) ? [] : [`OTEL_TRACES_SAMPLER: must be one of ${Object.keys(samplers).join(', ')}`]),
    ...(delayIn(env) >= 0 ? [] : ['OTEL_BSP_SCHEDULE_DELAY: must be a number of milliseconds']),
    ...(ratio >= 0 && ratio <= 1 ? [] : ['OTEL_TRACES_SAMPLER_ARG: must be a number from 0 to 1, in plain digits']),
  ]
}

/**
 * Returns the variables that make a sidecar use the same collector as its service. Without them, daprd would use gRPC over TLS (1.18,
 * SetTracingSpecFromEnv).
 */
export function sidecarTraceVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  const [, url] = endpointIn(env) ?? []
  if (!url) return {}
  const isOpen = url.startsWith('http:')
  const protocol = env.OTEL_EXPORTER_OTLP_PROTOCOL || 'http/protobuf'
  return { OTEL_EXPORTER_OTLP_PROTOCOL: protocol, ...(isOpen && { OTEL_EXPORTER_OTLP_INSECURE: 'true' }) }
}
