import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { parse } from 'yaml'
import { block, code, type Generated, table } from './markdown.ts'

interface Rule {
  alert: string
  expr: string
  for?: string
  labels: { severity: string }
  annotations: { summary: string; runbook: string }
}

const file = 'components/observe/alerts.yml'

/** Returns the page of alerts, with the alerts of the application's objective. */
export function alertsPage(): Generated {
  const { groups } = parse(readFileSync(join(repository, file), 'utf8')) as { groups: { rules: Rule[] }[] }
  const rules = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert)
  const rows = rules.map(({ alert, labels, for: time = '0s', annotations }) => [
    `[${alert}](#${alert.toLowerCase()})`,
    labels.severity,
    time,
    code(annotations.summary),
  ])
  const parts = rules.map(({ alert, expr, annotations }) => {
    const steps = annotations.runbook.replace(/^docs\//, '../')
    return `## ${alert}\n\n[Steps to take](${steps})\n\n${block('text', expr)}`
  })
  return {
    name: 'alerts',
    title: 'Alerts',
    description: 'The alerts of Prometheus, with their conditions and severity',
    origin: `\`${file}\``,
    body: `${introduction}\n\n${table(['Alert', 'Severity', 'After', 'Summary'], rows)}\n${parts.join('')}`,
  }
}

const introduction =
  'The severity `page` means: act now. `ticket` means: act within a day. An alert fires if its condition is true for the time in the column _After_.'
