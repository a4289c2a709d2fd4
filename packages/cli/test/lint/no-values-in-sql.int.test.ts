import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { repository } from '../../src/lib/paths.ts'

const value = '$' + '{value}'
const refused = [
  `\`SELECT * FROM events WHERE at = ${value}\``,
  `\`${value} LIMIT ${value}\``,
  `\`DELETE FROM\nruns WHERE id IN (${value})\``,
  `\`INSERT INTO runs (level) VALUES (${value})\``,
]
const accepted = ['`SELECT * FROM events WHERE at = ?`', "'LIMIT ?'", `\`the limit of ${value}\``]

describe('the lint rule about values in SQL', () => {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-lint-'))
    const { plugins } = JSON.parse(readFileSync(join(repository, 'biome.json'), 'utf8'))
    const own = plugins.map((plugin: { path: string }) => ({ ...plugin, path: join(repository, plugin.path) }))
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ plugins: own, linter: { rules: { preset: 'none' } } }))
  })
  after(() => rmSync(folder, { recursive: true }))

  /** Lints a file with some texts and returns the messages about it. */
  function problems(texts: string[], path: string): string[] {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), texts.map((text) => `use(${text})\n`).join(''))
    const biome = join(repository, 'node_modules/.bin/biome')
    const options = { cwd: folder, encoding: 'utf8' as const }
    const { stdout } = spawnSync(process.execPath, [biome, 'lint', '--reporter=json', path], options)
    return JSON.parse(stdout).diagnostics.map(({ message }: { message: string }) => message)
  }

  it('refuses a value in the text of a statement', () => {
    for (const text of refused) {
      const [message = '', ...others] = problems([text], 'packages/event-monitor/src/sample.ts')
      expect(message, text).to.contain('must not be written into the text of an SQL statement').and.contain('Bind it')
      expect(others).to.deep.equal([])
    }
  })

  it('accepts parameters, and texts that are not SQL', () => {
    expect(problems(accepted, 'packages/event-monitor/src/sample.ts')).to.deep.equal([])
  })

  it('accepts values in the SQL of tests', () => {
    expect(problems(refused, 'packages/event-monitor/test/sample.ts')).to.deep.equal([])
  })
})
