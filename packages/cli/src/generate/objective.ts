import type { Objective } from '@orderflow/service-kit/application'
import { replacePart } from './text.ts'

/**
 * packages/cli/observe/alerts.yml with the rules of the objective in services.json. All else in it is written by hand.
 */
export function alertsFile(text: string, objective: Objective | undefined): string {
  return replacePart(text, 'services.json', objective ? rules(objective) : '', 'packages/cli/observe/alerts.yml')
}

/** The windows of Prometheus over which the share of late events is recorded. */
const windows = ['5m', '30m', '1h', '6h', '3d']

/** What is used of a panel of Grafana. */
interface Panel {
  id: number
  title: string
  description?: string
  targets?: { expr: string }[]
  fieldConfig?: { defaults: { thresholds?: { steps: { color: string; value: number | null }[] } } }
}

/** packages/cli/observe/dashboard.json with the panels of the objective, by their ids. All else in it is written by hand. */
export function dashboardFile(text: string, objective: Objective | undefined): string {
  const { share, panels } = objective ? panelsOf(objective) : panelsOfAll
  const dashboard = JSON.parse(text) as { panels: Panel[] }
  for (const panel of dashboard.panels) {
    const own = panels[panel.id]
    if (!own) continue
    panel.title = own.title
    if (own.description) panel.description = own.description
    for (const [index, target] of (panel.targets ?? []).entries()) target.expr = own.queries?.[index] ?? target.expr
    const [, good] = panel.fieldConfig?.defaults.thresholds?.steps ?? []
    if (good) good.value = share
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

/** What is written into panels, by their ids, and the share from which the first one is green. */
interface OwnPanels {
  share: number
  panels: Record<number, { title: string; description?: string; queries?: string[] }>
}

function panelsOf(objective: Objective): OwnPanels {
  const { things, thing, status, service, after, event, seconds, share } = objective
  const queries = queriesOf(labelsOf(objective))
  return {
    share,
    panels: {
      2: {
        title: `${capital(things)} ${status} within ${seconds} s`,
        description: `Of the last hour; ${percent(share)} % is the objective.`,
        queries: [`1 - orderflow:${recordOf(objective)}:ratio_1h`],
      },
      3: {
        title: `${capital(things)} ${status} per second`,
        description: `As ${service} handles ${event}.`,
        queries: queries.rate,
      },
      8: { title: `${capital(things)} and requests` },
      9: {
        title: `From the ${thing} to ${status}`,
        description: `From when ${after} reached the log until ${service} had stored that it is ${status.toLowerCase()}.`,
        queries: queries.latency,
      },
    },
  }
}

const labelsOf = ({ service, event }: Objective) => `service="${service}", event="${event}"`
const recordOf = ({ things, status }: Objective) => `${things}_${status.toLowerCase()}_late`

/** Returns the bound of a histogram's bucket as a regular expression: some formats of metrics write a bound of 1 as 1.0. */
const bucketOf = (seconds: number) =>
  `${String(seconds).replace('.', '\\\\.')}${Number.isInteger(seconds) ? '(\\\\.0)?' : ''}`

/** Returns the queries of reactions with these labels. */
function queriesOf(labels: string) {
  const quantile = (share: number) =>
    `histogram_quantile(${share}, sum by (le) (rate(orderflow_reaction_seconds_bucket{${labels}}[$__rate_interval])))`
  return {
    rate: [`sum(rate(orderflow_reaction_seconds_count{${labels}}[$__rate_interval]))`],
    latency: [0.5, 0.99, 0.999].map(quantile),
  }
}

/** What the panels show without an objective: the reactions of all services. */
const panelsOfAll: OwnPanels = {
  share: 0,
  panels: {
    2: {
      title: 'Reactions within 1 s',
      description: 'Of all services, of the last hour. services.json has no objective.',
      queries: [
        `sum(rate(orderflow_reaction_seconds_bucket{le=~"${bucketOf(1)}"}[1h])) / sum(rate(orderflow_reaction_seconds_count[1h]))`,
      ],
    },
    3: {
      title: 'Reactions per second',
      description: 'Events that services handled after another event caused them.',
      queries: queriesOf('').rate,
    },
    8: { title: 'Reactions and requests' },
    9: {
      title: 'From the cause to the reaction',
      description: 'From when an event reached the log until a service had handled the event that it caused.',
      queries: queriesOf('').latency,
    },
  },
}

function rules(objective: Objective): string {
  const { things, status, seconds, share } = objective
  const [labels, record, bucket] = [labelsOf(objective), recordOf(objective), bucketOf(seconds)]
  const alert = `${capital(things)}${status}Late`
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
