import { templateFile } from '../application/paths.ts'
import { defaultPorts, entryOf, type Service, type StackPorts, services } from '../application/services.ts'
import { filledIn } from '../application/templates.ts'

export const localJaeger = ({ jaeger, otlp }: StackPorts): string =>
  filledIn('observe/jaeger.yml', { host: '127.0.0.1', page: templateFile('traces'), jaeger, otlp })

/** Docker publishes only the port of the page. An image that was built here sets TRACE_PAGE to the folder of our page. */
export function containersJaeger(): string {
  const { jaeger, otlp } = defaultPorts
  return filledIn('observe/jaeger.yml', { host: '0.0.0.0', page: `\${env:TRACE_PAGE:-}`, jaeger, otlp })
}

/** The metrics of sidecars that Prometheus keeps: those that the dashboard shows, and those of the process. */
export const keptOfSidecars = 'dapr_component_.+|go_goroutines|process_(cpu|resident|start).+'

/** Both kinds of targets are lines of YAML. */
interface Discovery {
  services: string
  sidecars: string
  exporter: string
}

/** @param seconds between two scrapes. The shortest window in alerts.yml contains 30 scrapes. */
const prometheusConfig = (discovery: Discovery, rules: string, seconds = 10): string =>
  filledIn('observe/prometheus.yml', {
    ...discovery,
    rules,
    seconds,
    timeout: Math.min(seconds, 4),
    kept: keptOfSidecars,
  })

const ofEach = (lineOf: (service: Service) => string) =>
  services.map((service) => `      - ${lineOf(service)}\n`).join('')

export function localConfig(ports: StackPorts, rules: string, seconds?: number): string {
  const at = (portOf: (service: Service) => number) =>
    `    static_configs:\n${ofEach(
      (service) => `{ targets: ['127.0.0.1:${portOf(service)}'], labels: { service: ${service.name} } }`,
    )}`
  return prometheusConfig(
    {
      services: at(({ name }) => entryOf(ports.services, name).metrics),
      sidecars: at(({ name }) => entryOf(ports.services, name).daprMetrics),
      exporter: `127.0.0.1:${ports.exporter}`,
    },
    // Prometheus reads the path as a pattern.
    JSON.stringify(rules.replaceAll(/[*?[\\]/g, '\\$&')),
    seconds,
  )
}

export const podsOf = ({ role }: Pick<Service, 'role'>): string => `${role}-pods`

/** The targets are pods, because each replica of a service has its own pod. */
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
      exporter: `exporter:${defaultPorts.exporter}`,
    },
    'alerts.yml',
  )
}
