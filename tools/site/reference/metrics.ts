import { createMetrics } from '@orderflow/service-kit/metrics'
import { scrape } from '@orderflow/service-kit/testing'
import { streamMetrics } from '@orderflow/stack/internals'
import { type Metric, Registry } from 'prom-client'
import { code, type Generated, table } from './markdown.ts'

/** A metric with its labels, which prom-client keeps in fields without types. */
interface Described {
  name: string
  help: string
  type: string
  labels: readonly string[]
}

/** Returns the page of metrics: those of every service, and those of the exporter. */
export async function metricsPage(): Promise<Generated> {
  const ofServices = await metricsOf(async () => {
    const metrics = createMetrics()
    metrics.readiness([], async () => ({}))
    metrics.stalled([], () => new Map())
    // The first scrape adds the metrics of the process.
    await scrape(metrics.listener)
  })
  const ofExporter = await metricsOf(async () => void streamMetrics({ bootstrapBrokers: [] }))
  const isOwn = ({ name }: Described) => !/^(process|nodejs)_/.test(name)
  return {
    name: 'metrics',
    title: 'Metrics',
    description: 'The metrics of services and of the exporter, with their types and labels',
    origin: 'the metrics that the code registers',
    body: [
      introduction,
      `## Every service\n\n${tableOf(ofServices.filter(isOwn))}`,
      `## The exporter of the stream\n\n${tableOf(ofExporter)}`,
      `## The process of a service\n\nThe library prom-client measures these.\n\n${tableOf(ofServices.filter((each) => !isOwn(each)))}`,
    ].join('\n\n'),
  }
}

const introduction = `[Observability](../observability.md#metrics) describes how to read the metrics, and [alerts](alerts.md) use them. A histogram has the series \`_bucket\`,
\`_sum\` and \`_count\`. Prometheus adds the labels \`service\`, \`job\` and \`instance\`.`

const tableOf = (metrics: readonly Described[]) =>
  table(
    ['Metric', 'Type', 'Labels', 'Meaning'],
    metrics.map(({ name, type, labels, help }) => [code(name), type, labels.map(code).join(', '), help]),
  )

/** Returns the metrics that a function registers, in alphabetical order. A registry returns only the labels of values. */
async function metricsOf(register: () => Promise<void>): Promise<Described[]> {
  const metrics: Described[] = []
  const { registerMetric } = Registry.prototype
  Registry.prototype.registerMetric = function (metric: Metric) {
    const { name, help, labelNames } = metric as unknown as { name: string; help: string; labelNames: string[] }
    metrics.push({ name, help, type: metric.constructor.name.toLowerCase(), labels: labelNames })
    registerMetric.call(this, metric)
  }
  try {
    await register()
  } finally {
    Registry.prototype.registerMetric = registerMetric
  }
  return metrics.sort((one, other) => one.name.localeCompare(other.name))
}
