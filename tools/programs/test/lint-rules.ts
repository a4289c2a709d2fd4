import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { after, before } from 'mocha'

/**
 * Prepares a folder for a suite. Biome applies only the repository's own lint rules there.
 * @returns a function that writes a file into the folder, lints it, and returns the messages about it
 */
export function ownLintRules(): (text: string, path: string) => string[] {
  let folder = ''
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-lint-'))
    const { plugins } = JSON.parse(readFileSync(join(repository, 'biome.json'), 'utf8'))
    const own = plugins.map((plugin: { path: string }) => ({ ...plugin, path: join(repository, plugin.path) }))
    writeFileSync(join(folder, 'biome.json'), JSON.stringify({ plugins: own, linter: { rules: { preset: 'none' } } }))
  })
  after(() => rmSync(folder, { recursive: true }))

  return (text, path) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
    const biome = join(repository, 'node_modules/.bin/biome')
    const options = { cwd: folder, encoding: 'utf8' as const }
    const { stdout } = spawnSync(process.execPath, [biome, 'lint', '--reporter=json', path], options)
    return JSON.parse(stdout).diagnostics.map(({ message }: { message: string }) => message)
  }
}
