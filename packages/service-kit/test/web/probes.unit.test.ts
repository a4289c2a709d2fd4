import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import express from 'express'
import { createReadiness } from '../../src/runtime/readiness/readiness.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { send, withServer } from '../../src/testing/http.ts'
import { healthRoutes } from '../../src/web/web.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../../..', path), 'utf8')
const cellsOf = (line: string) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll(/`|\[|\]\(.*?\)/g, ''))
/** Returns the rows of the table in docs/operations.md whose header begins with a word. */
function rowsOf(header: string): string[][] {
  const lines = read('docs/operations.md').split('\n')
  const begin = lines.findIndex((line) => line.startsWith(`| ${header} |`)) + 2
  return lines.slice(begin, lines.indexOf('', begin)).map(cellsOf)
}

/** The parts that do not work, in the words of the table. */
const conditions: Record<
  string,
  { sidecar?: string; store?: string; stream?: string; stopped?: string; stalled?: string }
> = {
  'the sidecar does not answer': { sidecar: 'does not answer' },
  'the store does not answer': { store: 'does not answer' },
  'Kafka does not answer': { stream: 'the broker does not answer' },
  'a topic is stopped': { stopped: 'orderevents is no longer consumed' },
  'a subscription has stalled': { stalled: 'orderevents/0 has stalled' },
}

describe('docs/operations.md', () => {
  const probes = rowsOf('Probe')

  it('describes the probes of the chart', () => {
    const chart = read('packages/stack/templates/chart/templates/_probes.tpl')
    const pattern =
      /(\w+)Probe:\n(?: +#.*\n)* +httpGet: \{ path: "?([^",]+)"?, port: http \}[\s\S]*?timeoutSeconds: (\d+)/g
    const inChart = [...chart.matchAll(pattern)].map(([, name, path, seconds]) => [name, path, `${seconds} s`])
    expect(inChart).to.deep.equal(probes.map(([name, path, , timeout]) => [name, path, timeout]))
  })

  it('lists each condition', () => {
    expect(rowsOf('While').map(([condition]) => condition)).to.deep.equal(Object.keys(conditions))
  })

  it('states the same result in the runbook of a stopped topic', () => {
    const [, section = ''] = read('docs/runbook.md').split('\n## A topic stopped\n')
    expect(section.split('\n## ')[0]).to.match(
      /`\/readyz` answers 503\. The \[readiness probe\]\(operations\.md#probes\) still passes/,
    )
  })

  for (const [condition = '', ...results] of rowsOf('While')) {
    it(`states which probes fail while ${condition}`, async () => {
      const { sidecar, store, stream, stopped, stalled } = conditions[condition] ?? {}
      const fake = new FakeSidecar('state.postgresql')
      fake.fault = async () => sidecar
      fake.storeFault = async () => store
      const readiness = createReadiness(
        fake,
        async () => stream,
        () => stopped ?? stalled,
      )
      const app = express().use(healthRoutes({ readiness, stalled: () => stalled }))
      const answers = await withServer(app, (url) => Promise.all(probes.map(([, path]) => send(`${url}${path}`))))
      expect(answers.map(({ status }) => (status === 200 ? 'passes' : 'fails'))).to.deep.equal(results)
    })
  }
})
