import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cacheFolder, repository } from '../application/paths.ts'
import { CliError, succeeds } from '../base/error.ts'
import { withLock } from '../base/lock.ts'
import { poll, runTool } from '../base/run-tool.ts'
import type { ProvisionOptions } from './build.ts'
import { aptGetInstall, canAptGet } from './tools.ts'

export const docker = (...args: string[]): Promise<string> => runTool('docker', args, { cwd: repository })

const startTimeoutMs = 60_000
const lockTimeoutMs = 10 * 60_000
const logFile = '/var/log/dockerd.log'
const notInstalled = 'docker is not installed'

const dockerd = (): string | undefined => ['/usr/sbin/dockerd', '/usr/bin/dockerd'].find((file) => existsSync(file))

/** Returns the reason why no Docker engine can be used. */
export async function engineMissing(): Promise<string | undefined> {
  try {
    await docker('version', '--format', '{{.Server.Version}}')
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return notInstalled
    return `no Docker engine answers: ${(error as Error).message.trim().split('\n').at(-1)}`
  }
}

/**
 * Makes sure that a Docker engine answers. As root on Debian or Ubuntu, it installs and starts an engine, which keeps running.
 * @throws {CliError} `no-engine` if this process cannot install an engine, or the engine fails to start
 */
export async function ensureEngine(options: ProvisionOptions): Promise<void> {
  if (!(await engineMissing())) return
  const onWait = (pid: number) => options.onProgress(`docker: waiting for process ${pid}, which starts the engine`)
  await withLock(join(cacheFolder(), 'engine.lock'), { timeoutMs: lockTimeoutMs, onWait }, async () => {
    const missing = await engineMissing()
    if (missing) await start(missing, options)
  })
}

async function start(missing: string, { onProgress, signal }: ProvisionOptions): Promise<void> {
  if (process.env.DOCKER_HOST) throw noEngine(`${missing} (DOCKER_HOST is ${process.env.DOCKER_HOST})`)
  if (!canAptGet()) throw noEngine(missing)
  if (!dockerd() || missing === notInstalled) {
    onProgress('docker: installing with apt-get')
    await aptGetInstall(['docker.io'], signal)
    // Some distributions have Docker's command line in a separate package, which apt-get installs only by name.
    if ((await engineMissing()) === notInstalled) await aptGetInstall(['docker-cli'], signal)
  }
  if (!(await engineMissing())) return
  if (existsSync('/run/systemd/system')) {
    onProgress('docker: starting the engine')
    await runTool('systemctl', ['start', 'docker'], { cwd: '/', signal })
  } else {
    onProgress(`docker: starting the engine; its log is ${logFile}`)
    await startDaemon(signal)
  }
  const left = await engineMissing()
  if (left) throw noEngine(left)
}

/** Starts the Docker daemon without systemd. The daemon continues after this process. */
async function startDaemon(signal: AbortSignal | undefined): Promise<void> {
  mkdirSync('/var/log', { recursive: true })
  const log = openSync(logFile, 'a')
  const daemon = spawn(dockerd() ?? 'dockerd', [], { cwd: '/', detached: true, stdio: ['ignore', log, log] })
  daemon.unref()
  const outcome = async () => (!(await engineMissing()) && 'up') || (daemon.exitCode !== null && 'ended') || undefined
  if ((await poll(outcome, { timeoutMs: startTimeoutMs, everyMs: 200, signal })) === 'up') return
  const tail = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-10).join('\n')
  throw noEngine(`dockerd does not start; ${logFile} ends with:\n${tail}`)
}

function noEngine(message: string): CliError {
  return new CliError('no-engine', message, {
    nextStep:
      'start or install Docker (https://docs.docker.com/engine/install/); as root on Debian or Ubuntu: ./orderflow engine',
  })
}

/**
 * Makes sure that `docker compose` works. As root on Debian or Ubuntu, it installs Compose v2.
 * @throws {CliError} `no-engine` if this process cannot install it, `provision-failed` if docker ignores the installed plugin
 */
export async function ensureCompose({ onProgress, signal }: ProvisionOptions): Promise<void> {
  const missing = await composeMissing()
  if (!missing) return
  if (!canAptGet()) throw noEngine(missing)
  onProgress('compose: installing with apt-get')
  await installCompose(signal)
  if (!(await composeMissing())) return
  throw new CliError('provision-failed', 'docker does not use the installed Compose', {
    nextStep: 'docker compose version, to see why',
  })
}

export async function composeMissing(): Promise<string | undefined> {
  return (await succeeds(docker('compose', 'version'))) ? undefined : 'docker has no compose command'
}

/** Installs Compose v2. Debian 12 has only v1, so v2 comes from Debian 13. */
async function installCompose(signal: AbortSignal | undefined): Promise<void> {
  const system = readFileSync('/etc/os-release', 'utf8')
  if (/^ID=ubuntu$/m.test(system)) return await aptGetInstall(['docker-compose-v2'], signal)
  if (!/^VERSION_CODENAME=bookworm$/m.test(system)) return await aptGetInstall(['docker-compose'], signal)
  const folder = mkdtempSync(join(tmpdir(), 'orderflow-apt-'))
  try {
    mkdirSync(join(folder, 'lists/partial'), { recursive: true })
    const sources = join(folder, 'sources.list')
    writeFileSync(sources, `deb ${await debianMirror(signal)} trixie main\n`)
    const places = { sourcelist: sources, sourceparts: '-' }
    const options = Object.entries(places).flatMap(([name, value]) => ['-o', `Dir::Etc::${name}=${value}`])
    await aptGetInstall(['docker-compose'], signal, [...options, '-o', `Dir::State::lists=${join(folder, 'lists')}`])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Returns the address from which this machine gets Debian's packages. */
async function debianMirror(signal: AbortSignal | undefined): Promise<string> {
  const filters = ['Created-By: Packages', 'Origin: Debian', 'Codename: bookworm']
  const asked = ['indextargets', '--format', '$(REPO_URI)', ...filters]
  const addresses = await runTool('apt-get', asked, { cwd: '/', signal })
  return addresses.trim().split('\n')[0] || 'http://deb.debian.org/debian'
}
