import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { repository } from '@orderflow/stack/base'
import { expect } from 'chai'

const kinds = ['unit', 'int', 'e2e', 'acceptance', undefined] as const

/** A file that prints the limits of its hooks and tests. Its last test never ends. */
const example = `
  const limits = []
  function add() { limits.push(this.timeout()) }
  before(add)
  describe('a suite', () => {
    before(add)
    beforeEach(function () { if (limits.length < 3) add.call(this) })
    it('is a test', add)
    describe('an inner suite', () => it('is an inner test', add))
    describe('a suite with its own limit', function () {
      this.timeout(5_000)
      it('has the limit of its suite', add)
    })
    it('has its own limit', function () { this.timeout(6_000); add.call(this) })
  })
  after(() => console.log(import.meta.filename.replace(/.*example/, ''), ...limits))
`
const hanging = "it('never ends', function (done) { this.timeout(20) })"

describe('the time limits of a test file', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-limits-'))
    for (const kind of kinds) writeFileSync(file(kind), example)
    writeFileSync(join(folder, 'hanging.unit.test.mjs'), hanging)
  })
  after(() => rmSync(folder, { recursive: true }))
  const file = (kind: string | undefined) => join(folder, ['example', kind, 'test.mjs'].filter(Boolean).join('.'))

  function run(...args: string[]): { status: number | null; stdout: string; limits: Record<string, string[]> } {
    const mocha = join(repository, 'node_modules/.bin/mocha')
    const { status, stdout: coloured } = spawnSync(process.execPath, [mocha, ...args], {
      cwd: repository,
      encoding: 'utf8',
    })
    const stdout = stripVTControlCharacters(coloured)
    const lines = stdout.matchAll(/^\.?(\w*)\.?test\.mjs (.*)$/gm)
    return {
      status,
      stdout,
      limits: Object.fromEntries([...lines].map(([, kind, all = '']) => [kind, all.split(' ')])),
    }
  }
  /** The limits of hooks and tests, in the order in which they run. */
  const limitsOf = (limit: number) => [limit, limit, limit, limit, 6_000, limit, 5_000].map(String)
  const expected = {
    unit: limitsOf(60_000),
    int: limitsOf(120_000),
    e2e: limitsOf(300_000),
    acceptance: limitsOf(300_000),
    '': limitsOf(300_000),
  }

  for (const [how, ...args] of [['one process'], ['parallel processes', '--parallel', '--jobs', '2']]) {
    it(`apply to its tests, hooks and suites without their own limits in ${how}`, () => {
      const { status, limits } = run(...args, ...kinds.map(file))
      expect({ status, limits }).to.deep.equal({ status: 0, limits: expected })
    })
  }

  it('do not apply with the option --timeout', () => {
    expect(run('--timeout', '7000', file('unit')).limits).to.deep.equal({ unit: limitsOf(7_000) })
  })

  it('end a test that never ends, and the report names the limit and the file', () => {
    const { status, stdout } = run(join(folder, 'hanging.unit.test.mjs'))
    expect(status).to.equal(1)
    expect(stdout).to.match(/Timeout of 20ms exceeded\..*hanging\.unit\.test\.mjs/s)
  })
})
