import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import { defaultPorts, type StackPorts } from '../lib/ports.ts'

/** The oldest go when there are more. A trace of an order takes about 20 KB. */
const maxTraces = 20_000

/**
 * The text of Jaeger's configuration. Jaeger 2 is an OpenTelemetry Collector with a store and a query service
 * (https://www.jaegertracing.io/docs/latest/configuration/).
 * @param host where it listens
 * @param page the folder of packages/cli/traces, as it is called there
 */
function configText(host: string, { otlp, jaeger }: Pick<StackPorts, 'otlp' | 'jaeger'>, page: string): string {
  return `# Made by packages/cli/src/observe/jaeger-config.ts.
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces: { receivers: [otlp], exporters: [jaeger_storage_exporter] }
  telemetry:
    metrics: { level: none }
    logs: { level: warn }
extensions:
  jaeger_storage:
    backends:
      memory: { memory: { max_traces: ${maxTraces} } }
  jaeger_query:
    storage: { traces: memory }
    # Of itself it would tell to port 4317.
    enable_tracing: false
    ui: { assets_path: '${page}' }
    http: { endpoint: '${host}:${jaeger}' }
    grpc: { endpoint: '127.0.0.1:0' }
receivers:
  otlp:
    protocols:
      http: { endpoint: '${host}:${otlp}' }
exporters:
  jaeger_storage_exporter: { trace_storage: memory }
`
}

/** For a process of this machine. */
export const localJaeger = (ports: StackPorts): string =>
  configText('127.0.0.1', ports, join(repository, 'packages/cli/traces'))

/** For a container, whose network is the other containers' alone, but for the page's port, which is published. */
export const containersJaeger = (): string => configText('0.0.0.0', defaultPorts, '/traces')
