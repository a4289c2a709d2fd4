import { createMetrics } from '@orderflow/service-kit/operations'
import { streamMetrics } from '@orderflow/stack/internals'
import { type Metric, Registry } from 'prom-client'
import type { Page } from '../pages.ts'
import { code, referencePage, section } from './markdown.ts'

/** Returns the page of metrics: those of every service, and those of the exporter. */
export function metricsPage(): Page {
  const ofServices = rowsOf(() => {
    const metrics = createMetrics()
    metrics.readiness([], async () => ({}))
    metrics.stalled([], () => new Map())
  })
  const ofExporter = rowsOf(() => void streamMetrics({ bootstrapBrokers: [] }))
  const head = ['Metric', 'Type', 'Labels', 'Meaning']
  return referencePage(
    'metrics',
    'Metrics',
    'The metrics of services and of the exporter, with their types and labels',
    'the metrics that the code registers',
    `${introduction}\n\n${section('Every service', head, ofServices)}${section('The exporter of the stream', head, ofExporter)}`,
  )
}

const introduction = `[Observability](../observability.md#metrics) describes how to read the metrics. A histogram has the series \`_bucket\`, \`_sum\` and \`_count\`.
Prometheus adds the labels \`service\`, \`job\` and \`instance\`. A service also has metrics of its process, from the library prom-client.`

/** Describes the metrics that a function registers, in alphabetical order. A registry returns only the labels of values. */
function rowsOf(register: () => void): string[][] {
  const rows: string[][] = []
  const { registerMetric } = Registry.prototype
  Registry.prototype.registerMetric = function (metric: Metric) {
    // prom-client declares no types for these fields.
    const { name, help, labelNames } = metric as unknown as { name: string; help: string; labelNames: string[] }
    rows.push([code(name), metric.constructor.name.toLowerCase(), labelNames.map(code).join(', '), help])
    registerMetric.call(this, metric)
  }
  register()
  Registry.prototype.registerMetric = registerMetric
  return rows.sort()
}
