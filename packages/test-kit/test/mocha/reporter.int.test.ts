import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'

const notRun = new URL('../../src/mocha/not-run.ts', import.meta.url).href

describe('the report of a test run', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-report-'))
    const files = {
      slow: `describe('a suite', () => {
        before('waits', (done) => void setTimeout(done, 1_100))
        it('is quick', () => {})
        it('fails', () => { throw new Error('no') })
      })`,
      quick: `it('is quick, too', () => {})`,
      out: `import { leaveOut } from '${notRun}'
        for (const title of ['one', 'other']) leaveOut(title, 'no engine')`,
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, `${name}.mjs`), text)
  })
  after(() => rmSync(folder, { recursive: true }))

  function report(...args: string[]): { status: number | null; lines: string[] } {
    const mocha = join(repository, 'node_modules/.bin/mocha')
    const { MOCHA_WORKER_ID: _, ...env } = process.env
    const { status, stdout } = spawnSync(process.execPath, [mocha, ...args], {
      cwd: repository,
      env,
      encoding: 'utf8',
    })
    return { status, lines: stdout.trimEnd().split('\n') }
  }
  const file = (name: string) => join(folder, `${name}.mjs`)

  for (const [how, ...args] of [['one process'], ['parallel processes', '--parallel', '--jobs', '2']]) {
    it(`prints each test and hook that took a second or more, and then the counts, after a run in ${how}`, () => {
      const { status, lines } = report(...args, file('slow'), file('quick'))
      expect(status).to.equal(1)
      const end = lines.slice(lines.indexOf('slowest files:')).filter((line) => !line.endsWith('(loading the files)'))
      expect(end.join('\n')).to.match(
        /^slowest files:\n +[\d.]+ s {2}.*slow\.mjs\nslowest tests and hooks:\n +[\d.]+ s {2}a suite "before all" hook: waits.*\n2 passed, 1 failed$/,
      )
    })
  }

  it('names skipped tests with the reason', () => {
    const { lines } = report(file('quick'), file('out'))
    expect(lines.slice(-2)).to.deep.equal(['not run: one; other (no engine)', '1 passed, 0 failed'])
  })

  it('fails a parallel run with skipped tests, because it could not report these tests', () => {
    const { status } = report('--parallel', '--jobs', '2', file('quick'), file('out'))
    expect(status).not.to.equal(0)
  })
})
