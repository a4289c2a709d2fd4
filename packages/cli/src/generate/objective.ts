import { application } from '../lib/services.ts'
import { replacePart } from './text.ts'

/**
 * packages/cli/observe/alerts.yml with the rules of the objective in services.json. All else in it is written by hand.
 */
export function alertsFile(text: string): string {
  return replacePart(text, 'services.json', rules(), 'packages/cli/observe/alerts.yml')
}

/** The windows of Prometheus over which the share of late events is recorded. */
const windows = ['5m', '30m', '1h', '6h', '3d']

/** packages/cli/observe/dashboard.json with the panels of the objective. All else in it is written by hand. */
export function dashboardFile(text: string): string {
  const { objective } = application
  if (!objective) return text
  const { things, thing, status, service, after, event } = objective
  const labels = `service="${service}", event="${event}"`
  const own: Record<number, { title: string; description: string }> = {
    3: { title: `${capital(things)} ${status} per second`, description: `As ${service} handles ${event}.` },
    9: {
      title: `From the ${thing} to ${status}`,
      description: `From when ${after} reached the log until ${service} had stored that it is ${status.toLowerCase()}.`,
    },
  }
  const dashboard = JSON.parse(text) as { panels: { id: number; targets?: { expr: string }[] }[] }
  for (const panel of dashboard.panels.filter(({ id }) => own[id])) {
    Object.assign(panel, own[panel.id])
    for (const target of panel.targets ?? [])
      target.expr = target.expr.replaceAll(/service="[^"]*", event="[^"]*"/g, labels)
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

function rules(): string {
  const { objective } = application
  if (!objective) return ''
  const { things, status, service, event, seconds, share } = objective
  const labels = `service="${service}", event="${event}"`
  const alert = `${capital(things)}${status}Late`
  const record = `${things}_${status.toLowerCase()}_late`
  // Some formats of metrics write a bound of 1 as 1.0.
  const bucket = `${String(seconds).replace('.', '\\\\.')}${Number.isInteger(seconds) ? '(\\\\.0)?' : ''}`
  const ratio = (window: string) => `      - record: orderflow:${record}:ratio_${window}
        expr: |
          1 - sum(rate(orderflow_reaction_seconds_bucket{${labels}, le=~"${bucket}"}[${window}]))
            / sum(rate(orderflow_reaction_seconds_count{${labels}}[${window}]))
`
  const budget = Number((1 - share).toFixed(6))
  return `  # ${percent(share)} % of ${things} are ${status} within ${seconds} s of reaching the log. The share of those that were not, over several windows.
  - name: ${things}-${status.toLowerCase()}-in-time
    rules:
${windows.map(ratio).join('\n')}
      # How fast the error budget of 30 days, ${percent(1 - share)} % of the ${things}, is used up, and for how long: two windows each, so that an alert comes soon
      # and goes soon (https://sre.google/workbook/alerting-on-slos/, "Multiwindow, Multi-Burn-Rate Alerts").
      - alert: ${alert}
        # 2 % of the budget within an hour.
        expr: |
          orderflow:${record}:ratio_1h > 14.4 * ${budget}
            and orderflow:${record}:ratio_5m > 14.4 * ${budget}
        labels: { severity: page, window: 1h }
        annotations:
          summary: '{{ $value | humanizePercentage }} of the ${things} of the last hour were not ${status} within ${seconds === 1 ? 'a second' : `${seconds} s`}'
          runbook: docs/observability.md#${alert.toLowerCase()}

      - alert: ${alert}
        # 5 % of the budget within six hours.
        expr: |
          orderflow:${record}:ratio_6h > 6 * ${budget}
            and orderflow:${record}:ratio_30m > 6 * ${budget}
        labels: { severity: page, window: 6h }
        annotations:
          summary: '{{ $value | humanizePercentage }} of the ${things} of the last six hours were not ${status} within ${seconds === 1 ? 'a second' : `${seconds} s`}'
          runbook: docs/observability.md#${alert.toLowerCase()}

      - alert: ${alert}
        # 10 % of the budget within three days.
        expr: |
          orderflow:${record}:ratio_3d > ${budget}
            and orderflow:${record}:ratio_6h > ${budget}
        labels: { severity: ticket, window: 3d }
        annotations:
          summary: '{{ $value | humanizePercentage }} of the ${things} of the last three days were not ${status} within ${seconds === 1 ? 'a second' : `${seconds} s`}'
          runbook: docs/observability.md#${alert.toLowerCase()}
`
}

const percent = (part: number) => Number((part * 100).toFixed(4))
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
