import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '@orderflow/stack'
import { docker } from '../src/docker.ts'
import type { Container, Runtime } from './platform/index.ts'

/** The label of all that a rehearsal makes in the engine; its value is the process that owns it. */
const label = 'orderflow.rehearsal'

/** How often, a second apart, a container is asked whether it is ready. */
const attempts = 60

/** What a rehearsal makes in the Docker engine: a network with containers in it. */
export interface Containers {
  /** Runs an image in the network under the name `alias`, and tries `ready` until it does not throw. */
  run: (alias: string, image: string, options: RunOptions, ready: (id: string) => Promise<unknown>) => Promise<void>
  runtime: Runtime
  /** Removes all of it, and the names that images got for the registry. */
  close: () => Promise<void>
}

export interface RunOptions {
  env?: Record<string, string>
  args?: string[]
  /** docker's own options. */
  options?: string[]
  /** Files to put into the container before it starts: path there, path here. */
  files?: Record<string, string>
}

/**
 * @param registry its host and port
 * @param dockerConfig the folder with the login to it, for pulls
 */
export async function openContainers(registry: string, dockerConfig: string): Promise<Containers> {
  await removeLeftovers()
  const network = `orderflow-rehearsal-${process.pid}`
  const mine = ['--label', `${label}=${process.pid}`]
  await docker(['network', 'create', ...mine, network])
  return {
    run: async (alias, image, { env = {}, args = [], options = [], files = {} }, ready) => {
      const where = ['--network', network, '--network-alias', alias, ...mine]
      const id = (await docker(['create', ...where, ...envOptions(env), ...options, image, ...args], { env })).trim()
      for (const [there, here] of Object.entries(files)) await docker(['cp', here, `${id}:${there}`])
      await docker(['start', id])
      await untilReady(alias, id, ready)
    },
    runtime: dynoRuntime(network, mine, dockerConfig),
    close: async () => {
      await remove('container', process.pid)
      await remove('network', process.pid)
      await removeNames(registry)
    },
  }
}

async function untilReady(name: string, id: string, ready: (id: string) => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await ready(id)
      return
    } catch (cause) {
      const running = (await docker(['inspect', '--format', '{{.State.Running}}', id])).trim() === 'true'
      if (running && attempt < attempts) await sleep(1_000)
      else throw new Error(`${name} ${running ? 'is not ready' : 'ended'}: ${await lastLines(id)}`, { cause })
    }
  }
}

async function lastLines(id: string): Promise<string> {
  const lines: string[] = []
  await docker(['logs', '--tail', '20', id], { onLine: (line) => lines.push(line) })
  return lines.join('\n')
}

/** Containers as the platform runs them: pulled from the registry, no root, 512 MB, one port, the config vars as environment. */
function dynoRuntime(network: string, labels: string[], dockerConfig: string): Runtime {
  return {
    start: async ({ app, dyno, image, configVars, onLine }): Promise<Container> => {
      await docker(['pull', '--quiet', image.reference], { env: { DOCKER_CONFIG: dockerConfig } })
      const { kafka: hostPort } = await freePorts()
      const env = { ...configVars, PORT: '8080', DYNO: dyno }
      const name = `${network}-${app}-${dyno}-${hostPort}`
      const limits = ['--user', '54321:54321', '--memory', '512m', '--publish', `127.0.0.1:${hostPort}:${env.PORT}`]
      const args = ['run', '--rm', '--name', name, '--network', network, ...labels, ...limits, ...envOptions(env)]
      const child = spawn('docker', [...args, image.reference], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine)
      return {
        port: hostPort,
        ended: new Promise((resolve) => child.once('close', (status) => resolve(status ?? 1))),
        stop: async () => {
          await docker(['stop', '--time', '30', name]).catch(() => {})
        },
      }
    },
  }
}

/** By name only: docker takes the values from its own environment, where no process list shows them. */
function envOptions(env: Record<string, string>): string[] {
  return Object.keys(env).flatMap((name) => ['--env', name])
}

/** What a killed rehearsal left. */
async function removeLeftovers(): Promise<void> {
  const format = `{{.Label "${label}"}}`
  const owners = await docker(['ps', '--all', '--filter', `label=${label}`, '--format', format])
  const networks = await docker(['network', 'ls', '--filter', `label=${label}`, '--format', format])
  for (const pid of new Set(`${owners}\n${networks}`.split('\n').map(Number).filter(Boolean))) {
    if (isAlive(pid)) continue
    await remove('container', pid)
    await remove('network', pid)
  }
}

async function remove(kind: 'container' | 'network', pid: number): Promise<void> {
  const all = kind === 'container' ? ['--all'] : []
  const ids = await docker([kind, 'ls', ...all, '--quiet', '--filter', `label=${label}=${pid}`])
  const force = kind === 'container' ? ['--force', '--volumes'] : []
  for (const id of ids.split('\n').filter(Boolean)) await docker([kind, 'rm', ...force, id]).catch(() => {})
}

async function removeNames(registry: string): Promise<void> {
  const format = '{{.Repository}}:{{.Tag}}'
  const names = await docker(['image', 'ls', '--filter', `reference=${registry}/*/*`, '--format', format])
  for (const name of names.split('\n').filter(Boolean)) await docker(['image', 'rm', name]).catch(() => {})
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
