import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, runTool } from '@orderflow/stack/base'
import { withLock } from '@orderflow/stack/internals'

const version = '11.10.0'

export async function herokuTool(): Promise<string> {
  const folder = join(cacheFolder(), `heroku-${version}`)
  await withLock(`${folder}.lock`, { timeoutMs: 600_000, onWait: () => {} }, async () => {
    if (existsSync(folder)) return
    const partial = `${folder}.partial`
    rmSync(partial, { recursive: true, force: true })
    mkdirSync(partial, { recursive: true })
    const options = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error']
    await runTool('npm', ['install', ...options, '--prefix', partial, `heroku@${version}`], { cwd: partial })
    renameSync(partial, folder)
  })
  return join(folder, 'node_modules/heroku/bin/run.js')
}
