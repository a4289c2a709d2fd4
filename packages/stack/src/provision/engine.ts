import { spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { cacheFolder, repository, versions } from '../application/paths.ts'
import { CliError, succeeds } from '../base/error.ts'
import { withLock } from '../base/lock.ts'
import { poll, runTool } from '../base/run-tool.ts'
import { goTool, type ProvisionOptions } from './build.ts'
import { provisionTools } from './provision.ts'
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
 * @throws {CliError} `provision-failed` if an installed plugin does not work, `tools-missing` if this machine lacks the tools that build the plugin
 */
export async function ensureCompose(options: ProvisionOptions): Promise<void> {
  if (!(await composeMissing())) return
  await provisionTools([composeTool()], options)
  linkPlugin(join(composeTool().folder, 'docker-compose'), pluginFile())
  if (!(await composeMissing())) return
  throw new CliError('provision-failed', `docker does not use ${pluginFile()} as its compose command`, {
    nextStep: 'docker compose version, to see why',
  })
}

export async function composeMissing(): Promise<string | undefined> {
  return (await succeeds(docker('compose', 'version'))) ? undefined : 'docker has no compose command'
}

const composePath = 'github.com/docker/compose/v2'

export const composeModule = `${composePath}@v${versions.compose}`

/** Builds Docker Compose v2, which Debian 12 lacks. */
const composeTool = () =>
  goTool('compose', versions.compose, 5, {
    module: composeModule,
    package: './cmd',
    file: 'docker-compose',
    variables: { [`${composePath}/internal.Version`]: `v${versions.compose}` },
  })

function pluginFile(): string {
  return join(process.env.DOCKER_CONFIG || join(homedir(), '.docker'), 'cli-plugins/docker-compose')
}

/** Links the plugin. Replaces an existing link only if its target is missing. */
function linkPlugin(target: string, file: string): void {
  const isThere = lstatSync(file, { throwIfNoEntry: false })
  if (isThere && (!isThere.isSymbolicLink() || existsSync(file))) {
    throw new CliError('provision-failed', `docker compose does not work, although ${file} exists`, {
      nextStep: `docker compose version, to see why; or remove ${file}`,
    })
  }
  if (isThere) rmSync(file)
  mkdirSync(dirname(file), { recursive: true })
  symlinkSync(target, file)
}
