import { globSync } from 'node:fs'
import { CliError, reportError, runTool, timed } from '@orderflow/stack/base'
import { requireFolders } from '../folders.ts'
import { moveCode } from './move-code.ts'

/** Runs `make -C tools move-code FROM=... TO=...`. */
async function main({ FROM, TO = '' }: NodeJS.ProcessEnv): Promise<void> {
  const [from, to] = requireFolders({ FROM, TO }, 'move-code')
  const own = globSync('*-service/package.json', { cwd: to })
  if (own.length > 0) {
    throw new CliError('usage', `${TO} already has services`, {
      nextStep: 'create an empty application (docs/from-0.1.md)',
    })
  }
  const tell = timed()
  const services = moveCode(from, to)
  tell(`${services.join(', ')}: copied`)
  const run = (command: string, ...args: string[]) => runTool(command, args, { cwd: to })
  const format = () => run('./orderflow', 'node', 'node_modules/.bin/biome', 'check', '--write')
  tell('npm packages: installing')
  await run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error')
  tell('generated files: writing')
  // `generate` changes the ports in formatted settings.
  await format()
  await run('./orderflow', 'generate')
  await format()
  tell(`done. Next, in ${TO}: make check`)
}

await main(process.env).catch(reportError)
