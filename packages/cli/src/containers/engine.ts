import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StackError } from '../lib/error.ts'
import { withLock } from '../lib/lock.ts'
import { cacheFolder } from '../lib/paths.ts'
import { poll } from '../lib/poll.ts'
import { runTool } from '../lib/run-tool.ts'
import type { ProvisionOptions } from '../provision/build.ts'
import { aptGetInstall, canAptGet } from '../provision/tools.ts'
import { docker } from './docker.ts'

const startTimeoutMs = 60_000
const lockTimeoutMs = 10 * 60_000
const logFile = '/var/log/dockerd.log'
const notInstalled = 'docker is not installed'

function dockerd(): string | undefined {
  return ['/usr/sbin/dockerd', '/usr/bin/dockerd'].find((file) => existsSync(file))
}

/** Why no Docker engine can be used; undefined when one answers. */
export async function engineMissing(): Promise<string | undefined> {
  try {
    await docker('version', '--format', '{{.Server.Version}}')
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return notInstalled
    return `no Docker engine answers: ${lastLine(error)}`
  }
}

/**
 * Makes sure a Docker engine answers: as root on Debian or Ubuntu it installs and starts one that stays.
 * @throws {StackError} `no-engine` where it may not, or when the engine does not start
 */
export async function ensureEngine(options: ProvisionOptions): Promise<void> {
  if (!(await engineMissing())) return
  const onWait = (pid: number) => options.onProgress(`docker: process ${pid} is starting it, waiting`)
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
    // Where the command line is a package of its own, the engine only recommends it.
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

/** Without systemd: a daemon of its own session, which outlives us. */
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

function noEngine(message: string): StackError {
  return new StackError('no-engine', message, {
    nextStep:
      'start or install Docker (https://docs.docker.com/engine/install/); as root on Debian or Ubuntu: ./orderflow engine',
  })
}

function lastLine(error: unknown): string {
  const lines = String((error as Error).message)
    .trim()
    .split('\n')
  return lines.at(-1) ?? ''
}
