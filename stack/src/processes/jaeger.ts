import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import { jaegerFile, jaegerTool } from '../provision/jaeger.ts'
import { provisionTools } from '../provision/provision.ts'
import type { EnsureOptions } from './ensure.ts'
import { dataFolder, type Plan } from './plan.ts'
import { requireFreePorts } from './port-check.ts'
import { startProcess } from './process-control.ts'
import type { ProcessSpec } from './process-spec.ts'
import { processState } from './run-record.ts'
import { jaeger, jaegerUrl } from './trace-variables.ts'
import { waitUntil } from './wait.ts'

const startTimeoutMs = 60_000

/** The oldest go when there are more. A trace of an order takes about 20 KB. */
const maxTraces = 20_000

/**
 * Makes sure that a Jaeger runs beside a stack: it takes traces by OTLP over HTTP, keeps them in memory, and shows them. What of the stack
 * starts from now on sends it its own; what runs already does not. It is one of the folder's processes like any other.
 * @throws {StackError} `tools-missing`, `provision-failed`, `port-in-use`, `process-died`, `not-ready`, `interrupted`
 */
export async function startJaeger(plan: Plan, { onProgress, onStarted, signal }: EnsureOptions): Promise<void> {
  const { folder, ports } = plan
  await provisionTools([jaegerTool()], { onProgress, signal })
  if (processState(folder, jaeger).state !== 'running') {
    const spec = jaegerSpec(plan)
    await requireFreePorts(Object.entries(spec.ports).map(([use, port]) => ({ port, use: `${jaeger} ${use}` })))
    onProgress(`${jaeger}: starting`)
    startProcess(folder, spec)
    onStarted?.(jaeger)
  }
  await waitUntil(jaeger, { folder, processes: [jaeger], timeoutMs: startTimeoutMs, signal }, async () => {
    const answer = await fetch(`${jaegerUrl(ports)}/api/services`).catch((error: Error) => error)
    if (answer instanceof Error) return answer.message
    return answer.ok ? undefined : `it answers ${answer.status}`
  })
  onProgress(`${jaeger}: ready`)
}

function jaegerSpec({ folder, ports }: Plan): ProcessSpec {
  const file = join(dataFolder(folder), 'jaeger.json')
  mkdirSync(dataFolder(folder), { recursive: true })
  writeFileSync(file, JSON.stringify(configuration(ports.otlp, ports.jaeger), null, 2))
  return {
    name: jaeger,
    command: jaegerFile(),
    args: [`--config=file:${file}`],
    env: {},
    ports: { otlp: ports.otlp, page: ports.jaeger },
  }
}

/** Jaeger 2 is an OpenTelemetry Collector with a store and a query service (https://www.jaegertracing.io/docs/latest/configuration/). */
function configuration(otlp: number, page: number) {
  return {
    service: {
      extensions: ['jaeger_storage', 'jaeger_query'],
      pipelines: { traces: { receivers: ['otlp'], exporters: ['jaeger_storage_exporter'] } },
      telemetry: { metrics: { level: 'none' }, logs: { level: 'warn' } },
    },
    extensions: {
      jaeger_storage: { backends: { memory: { memory: { max_traces: maxTraces } } } },
      jaeger_query: {
        storage: { traces: 'memory' },
        // Of itself it would tell to port 4317.
        enable_tracing: false,
        ui: { assets_path: join(repository, 'stack/traces') },
        http: { endpoint: `127.0.0.1:${page}` },
        grpc: { endpoint: '127.0.0.1:0' },
      },
    },
    receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${otlp}` } } } },
    exporters: { jaeger_storage_exporter: { trace_storage: 'memory' } },
  }
}
