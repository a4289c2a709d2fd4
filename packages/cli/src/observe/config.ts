import { join } from 'node:path'
import { repository } from '../lib/paths.ts'
import { defaultPorts, type StackPorts } from '../lib/ports.ts'
import { entryOf, type Service, services } from '../lib/services.ts'

/** The oldest go when there are more. A trace of one request and its events takes about 20 KB. */
const maxTraces = 20_000

/**
 * The text of Jaeger's configuration. Jaeger 2 is an OpenTelemetry Collector with a store and a query service
 * (https://www.jaegertracing.io/docs/latest/configuration/).
 * @param host where it listens
 * @param page path of the folder of packages/cli/traces; empty for the page that is part of Jaeger's image
 */
function jaegerConfig(host: string, { otlp, jaeger }: Pick<StackPorts, 'otlp' | 'jaeger'>, page: string): string {
  return `# Made by packages/cli/src/observe/config.ts.
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

/** Returns the configuration for a process of this machine. */
export const localJaeger = (ports: StackPorts): string =>
  jaegerConfig('127.0.0.1', ports, join(repository, 'packages/cli/traces'))

/**
 * Returns the configuration for a container. Only the port of the page is published.
 *
 * The official image contains Jaeger's page. The image that is built here contains the Go module, which has no page, and
 * sets the variable to our page.
 */
export const containersJaeger = (): string => jaegerConfig('0.0.0.0', defaultPorts, `\${env:TRACE_PAGE:-}`)

/** The groups of targets that Prometheus scrapes. */
const jobs = ['services', 'sidecars', 'exporter'] as const
type Job = (typeof jobs)[number]

/** The part of prometheus.yml that finds the targets of each job. */
type Discovery = Record<Job, string>

/**
 * Seconds from one scrape to the next. The shortest window of packages/cli/observe/alerts.yml holds thirty; at five
 * seconds it cost 0.8 %.
 */
const usualInterval = 10

/**
 * Of a sidecar's metrics those that the dashboard shows, and how it is itself: all of them are several times as many.
 */
const keptOfSidecars = 'dapr_component_.+|go_goroutines|process_(cpu|resident|start).+'

/**
 * The text of prometheus.yml.
 * @param rules paths of rule files
 */
function prometheusConfig(discovery: Discovery, rules: string, seconds: number): string {
  return `# Made by packages/cli/src/observe/config.ts.
global:
  scrape_interval: ${seconds}s
  # A service that asks a broker which hangs takes three seconds to say that it is not ready.
  scrape_timeout: ${Math.min(seconds, 4)}s
  evaluation_interval: ${seconds}s
rule_files: [${rules}]
scrape_configs:
${jobs.map((job) => `  - job_name: ${job}\n${discovery[job]}${extraOf(job)}`).join('')}`
}

const extraOf = (job: Job) =>
  job === 'sidecars'
    ? `    metric_relabel_configs:
      - { source_labels: [__name__], regex: '${keptOfSidecars}', action: keep }
`
    : ''

/** Lines of all services, one after the other. */
const ofEach = (lineOf: (service: Service) => string) =>
  services.map((service) => `      - ${lineOf(service)}\n`).join('')

/** Returns the configuration for processes of this machine. */
export function localConfig(ports: StackPorts, rules: string, seconds = usualInterval): string {
  const at = (portOf: (service: Service) => number) =>
    `    static_configs:\n${ofEach(
      (service) => `{ targets: ['127.0.0.1:${portOf(service)}'], labels: { service: ${service.name} } }`,
    )}`
  return prometheusConfig(
    {
      services: at(({ name }) => entryOf(ports.services, name).metrics),
      sidecars: at(({ name }) => entryOf(ports.services, name).daprMetrics),
      exporter: `    static_configs: [{ targets: ['127.0.0.1:${ports.exporter}'] }]\n`,
    },
    rules,
    seconds,
  )
}

/** The name by which all pods of a service are found in the containers' network. */
export const podsOf = ({ role }: Pick<Service, 'role'>): string => `${role}-pods`

/** Returns the configuration for containers, where a service has one pod for each replica. */
export function containersConfig(): string {
  const names = ofEach((service) => {
    return `{ source_labels: [__meta_dns_name], regex: ${podsOf(service)}, target_label: service, replacement: ${service.name} }`
  })
  const at = (portOf: (service: Service) => number) => {
    const found = ofEach((service) => {
      return `{ names: [${podsOf(service)}], type: A, port: ${portOf(service)}, refresh_interval: 5s }`
    })
    return `    dns_sd_configs:\n${found}    relabel_configs:\n${names}`
  }
  return prometheusConfig(
    {
      services: at(({ name }) => entryOf(defaultPorts.services, name).metrics),
      sidecars: at(({ name }) => entryOf(defaultPorts.services, name).daprMetrics),
      exporter: `    static_configs: [{ targets: ['exporter:${defaultPorts.exporter}'] }]\n`,
    },
    'alerts.yml',
    usualInterval,
  )
}
