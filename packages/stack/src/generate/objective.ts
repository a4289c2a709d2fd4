import type { Objective } from '@orderflow/service-kit/application'
import { filledIn, generated } from '../application/templates.ts'

/** Returns the alerts of every application, which `text` has, and those of the objective. */
export function alertsFile(text: string, objective: Objective | undefined): string {
  const [, groups] = text.split(/^(?=groups:)/m)
  return `${generated(alertsComment)}${groups}${objective ? rules(objective) : ''}`
}

const alertsComment = `The alerts of Prometheus. docs/runbook.md has the steps to take for each alert.
severity: page (act now) or ticket (act within a day).`

const windows = ['5m', '30m', '1h', '6h', '3d']

interface Panel {
  id: number
  title: string
  description?: string
  targets?: { expr: string }[]
  fieldConfig?: { defaults: { thresholds?: { steps: { color: string; value: number | null }[] } } }
}

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

/** Maps the ids of panels to their generated fields. The first panel is green if its value is at least `share`. */
interface OwnPanels {
  share: number
  panels: Record<number, { title: string; description?: string; queries?: string[] }>
}

function panelsOf(objective: Objective): OwnPanels {
  const { things, thing, status, service, event, seconds, share } = objective
  const [name] = event.split('@')
  const queries = queriesOf(labelsOf(objective))
  return {
    share,
    panels: {
      2: {
        title: `${capital(things)} ${status} within ${seconds} s`,
        description: `The share in the last hour. The objective is ${percent(share)} %.`,
        queries: [`1 - orderflow:${recordOf(objective)}:ratio_1h`],
      },
      3: {
        title: `${capital(things)} ${status} per second`,
        description: `The rate at which ${service} handles ${event}.`,
        queries: queries.rate,
      },
      8: { title: `${capital(things)} and requests` },
      9: {
        title: `From the ${thing} to ${status}`,
        description: `The time from the moment when the cause of ${name} reached the log until ${service} stored the status ${status.toLowerCase()}.`,
        queries: queries.latency,
      },
    },
  }
}

const labelsOf = ({ service, event }: Objective) => `service="${service}", event="${event}"`
const recordOf = ({ things, status }: Objective) => `${things}_${status.toLowerCase()}_late`

/** Returns a histogram's bound as a regular expression. Some metric formats write 1 as 1.0. */
const bucketOf = (seconds: number) =>
  `${String(seconds).replace('.', '\\\\.')}${Number.isInteger(seconds) ? '(\\\\.0)?' : ''}`

function queriesOf(labels: string) {
  const quantile = (share: number) =>
    `histogram_quantile(${share}, sum by (le) (rate(orderflow_reaction_seconds_bucket{${labels}}[$__rate_interval])))`
  return {
    rate: [`sum(rate(orderflow_reaction_seconds_count{${labels}}[$__rate_interval]))`],
    latency: [0.5, 0.99, 0.999].map(quantile),
  }
}

/** The panels without an objective. They show the reactions of all services. */
const panelsOfAll: OwnPanels = {
  share: 0,
  panels: {
    2: {
      title: 'Reactions within 1 s',
      description:
        'The share of fast reactions of all services in the last hour. services.json has no objective to compare it with.',
      queries: [
        `sum(rate(orderflow_reaction_seconds_bucket{le=~"${bucketOf(1)}"}[1h])) / sum(rate(orderflow_reaction_seconds_count[1h]))`,
      ],
    },
    3: {
      title: 'Reactions per second',
      description: 'The rate at which services handle events that another event caused.',
      queries: queriesOf('').rate,
    },
    8: { title: 'Reactions and requests' },
    9: {
      title: 'From the cause to the reaction',
      description:
        'The time from the moment when an event reached the log until a service handled the effect of this event.',
      queries: queriesOf('').latency,
    },
  },
}

function rules(objective: Objective): string {
  const { things, status, event, seconds, share } = objective
  const [labels, record, bucket] = [labelsOf(objective), recordOf(objective), bucketOf(seconds)]
  const ratio = (window: string) => `      - record: orderflow:${record}:ratio_${window}
        expr: |
          1 - sum(rate(orderflow_reaction_seconds_bucket{${labels}, le=~"${bucket}"}[${window}]))
            / sum(rate(orderflow_reaction_seconds_count{${labels}}[${window}]))
`
  return filledIn('observe/objective.yml', {
    ...objective,
    event: event.split('@')[0],
    percent: percent(share),
    lowerStatus: status.toLowerCase(),
    ratios: windows.map(ratio).join('\n'),
    budget: Number((1 - share).toFixed(6)),
    budgetPercent: percent(1 - share),
    alert: `${capital(things)}${status}Late`,
    record,
    time: seconds === 1 ? 'a second' : `${seconds} s`,
  })
}

const percent = (part: number) => Number((part * 100).toFixed(4))
const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
