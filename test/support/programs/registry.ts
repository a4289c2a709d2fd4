import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually, runTool } from '@orderflow/stack/base'
import { freePort } from '@orderflow/stack/internals'
import { packagesTools } from '../../packages/tools.ts'

export interface Registry {
  url: string
  /** Variables with which npm uses this registry and an empty cache. */
  env: Record<string, string>
  publish(archive: string): Promise<void>
  /** Ends the registry and deletes its packages. */
  stop(): Promise<void>
}

/** Starts an npm registry on this machine. It requests packages without the scope @orderflow from the registry of `npm config get registry`. */
export async function startRegistry(): Promise<Registry> {
  const { verdaccio } = await packagesTools()
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-registry-'))
  const upstream = (await runTool('npm', ['config', 'get', 'registry'], { cwd: folder })).trim()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const settings = join(folder, 'config.yaml')
  // JSON is valid YAML.
  writeFileSync(settings, JSON.stringify(config(folder, upstream)))
  writeFileSync(join(folder, 'npmrc'), `//127.0.0.1:${port}/:_authToken=none\n`)
  const env = {
    npm_config_registry: url,
    npm_config_userconfig: join(folder, 'npmrc'),
    npm_config_cache: join(folder, 'cache'),
  }
  const program = spawn(process.execPath, [verdaccio, '--config', settings, '--listen', `127.0.0.1:${port}`], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const output of [program.stdout, program.stderr]) output.on('data', (chunk) => (printed += chunk))
  const kill = () => program.kill('SIGKILL')
  process.once('exit', kill)
  async function stop(): Promise<void> {
    process.off('exit', kill)
    if (program.exitCode === null && program.signalCode === null) {
      kill()
      await once(program, 'exit')
    }
    rmSync(folder, { recursive: true })
  }
  async function isReady(): Promise<boolean> {
    if (program.exitCode !== null) throw new Error(`Verdaccio ended with code ${program.exitCode}:\n${printed}`)
    return fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  try {
    await eventually(isReady, 'Verdaccio')
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url,
    env,
    stop,
    publish: async (archive) => {
      await runTool('npm', ['publish', archive, '--ignore-scripts', '--provenance=false'], { cwd: folder, env })
    },
  }
}

function config(folder: string, upstream: string): object {
  return {
    storage: join(folder, 'storage'),
    auth: { htpasswd: { file: join(folder, 'htpasswd') } },
    uplinks: { upstream: { url: upstream } },
    packages: { '@orderflow/*': { access: '$all', publish: '$all' }, '**': { access: '$all', proxy: 'upstream' } },
    web: { enable: false },
    log: { type: 'stdout', format: 'pretty', level: 'warn' },
  }
}
