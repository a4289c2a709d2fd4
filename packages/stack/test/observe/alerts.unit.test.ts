import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { repository } from '../../src/application/paths.ts'

interface Rule {
  alert?: string
  labels?: { severity: string }
  annotations?: { summary: string; runbook: string }
}

const read = (path: string) => readFileSync(join(repository, path), 'utf8')
const { groups } = parse(read('components/observe/alerts.yml')) as { groups: { rules: Rule[] }[] }
const alerts = groups.flatMap(({ rules }) => rules).filter(({ alert }) => alert !== undefined)
const { tests } = parse(read('packages/stack/test/observe/alerts.test.yml')) as {
  tests: { alert_rule_test: { alertname: string; exp_alerts?: unknown[] }[] }[]
}
const tried = tests.flatMap(({ alert_rule_test: all }) => all)
/** Maps the anchors of the runbook to the text of their sections. */
const runbook = new Map(
  read('docs/runbook.md')
    .split(/^## /m)
    .map((section) => [section.slice(0, section.indexOf('\n')).toLowerCase().replaceAll(' ', '-'), section]),
)

describe('alerts.yml', () => {
  it('gives each alert a severity, a summary and a link to the runbook', () => {
    expect(alerts).to.have.length.above(8)
    for (const { alert = '', labels, annotations } of alerts) {
      expect(labels?.severity, alert).to.match(/^(page|ticket)$/)
      expect(annotations?.summary, alert).to.match(/\w/)
      const [page, anchor = ''] = annotations?.runbook.split('#') ?? []
      expect(page, alert).to.equal('docs/runbook.md')
      expect(runbook.get(anchor), alert).to.contain(`\`${alert}\``)
    }
  })

  it('passes the tests of promtool, which expect each alert to fire and to end', () => {
    for (const { alert } of alerts) {
      const own = tried.filter(({ alertname }) => alertname === alert)
      expect(
        own.some(({ exp_alerts: expected = [] }) => expected.length > 0),
        `${alert} fires`,
      ).to.equal(true)
      expect(
        own.some(({ exp_alerts: expected = [] }) => expected.length === 0),
        `${alert} does not`,
      ).to.equal(true)
    }
  })

  it('contains only alerts that a test triggers with a broken stack', () => {
    const broken = read('test/observe/metrics.e2e.test.ts')
    for (const { alert = '' } of alerts) expect(broken, alert).to.contain(`'${alert}'`)
  })
})
