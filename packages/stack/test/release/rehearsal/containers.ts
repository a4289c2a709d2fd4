import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../../src/application/free-ports.ts'
import { poll } from '../../../src/base/run-tool.ts'
import { docker, owned, removeOf, removeOrphans } from '../../../src/release/docker.ts'
import type { Container, Runtime } from './platform/index.ts'

const startTimeoutMs = 60_000

/** The name by which containers reach this machine. */
export const machineName = 'machine.test'

/** The resources of a rehearsal in the Docker engine: a network with containers. */
export interface Containers {
  /** Runs an image in the network under the name `alias`, and repeats `ready` until it succeeds. */
  run: (alias: string, image: string, options: RunOptions, ready: (id: string) => Promise<unknown>) => Promise<void>
  runtime: Runtime
  /** The address of this machine in the network. */
  gateway: string
  /** Removes all resources, and all local image names that contain the registry. */
  close: () => Promise<void>
}

export interface RunOptions {
  env?: Record<string, string>
  args?: string[]
  options?: string[]
  /** The files to copy into the container: a map from paths in the container to paths on this machine. */
  files?: Record<string, string>
}

/**
 * @param registry the registry's host and port
 * @param dockerConfig the folder with the login to the registry, for pulls
 * @param trusted the PEM file with the certificates that released services trust
 */
export async function openContainers(registry: string, dockerConfig: string, trusted: string): Promise<Containers> {
  await removeOrphans()
  const network = `orderflow-rehearsal-${process.pid}`
  await docker(['network', 'create', ...owned, network])
  const gatewayOf = '{{(index .IPAM.Config 0).Gateway}}'
  const gateway = (await docker(['network', 'inspect', '--format', gatewayOf, network])).trim()
  return {
    run: async (alias, image, { env = {}, args = [], options = [], files = {} }, ready) => {
      const where = ['--network', network, '--network-alias', alias, ...owned]
      const id = (await docker(['create', ...where, ...envOptions(env), ...options, image, ...args], { env })).trim()
      for (const [there, here] of Object.entries(files)) await docker(['cp', here, `${id}:${there}`])
      await docker(['start', id])
      await untilReady(alias, id, ready)
    },
    runtime: dynoRuntime(network, dockerConfig, [
      ...['--add-host', `${machineName}:${gateway}`],
      ...['--volume', `${trusted}:/etc/trusted.pem:ro`],
      ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'].flatMap((name) => ['--env', `${name}=/etc/trusted.pem`]),
    ]),
    gateway,
    close: async () => {
      await removeOf()
      await removeNames(registry)
    },
  }
}

async function untilReady(name: string, id: string, ready: (id: string) => Promise<unknown>): Promise<void> {
  let cause: unknown
  const readyOrEnded = async () => {
    try {
      await ready(id)
      return 'is ready'
    } catch (error) {
      cause = error
      const running = (await docker(['inspect', '--format', '{{.State.Running}}', id])).trim() === 'true'
      return running ? undefined : 'ended'
    }
  }
  const state = (await poll(readyOrEnded, { timeoutMs: startTimeoutMs, everyMs: 1_000 })) ?? 'is not ready'
  if (state !== 'is ready') throw new Error(`${name} ${state}: ${await lastLines(id)}`, { cause })
}

async function lastLines(id: string): Promise<string> {
  const lines: string[] = []
  await docker(['logs', '--tail', '20', id], { onLine: (line) => lines.push(line) })
  return lines.join('\n')
}

/** Returns a runtime like the platform's: images from the registry, no root, 512 MB, one port, and config vars as environment. */
function dynoRuntime(network: string, dockerConfig: string, around: string[]): Runtime {
  return {
    start: async ({ app, dyno, image, configVars, onLine }): Promise<Container> => {
      await docker(['pull', '--quiet', image.reference], { env: { DOCKER_CONFIG: dockerConfig } })
      const { kafka: hostPort } = await freePorts()
      const env = { ...configVars, PORT: '8080', DYNO: dyno }
      const name = `${network}-${app}-${dyno}-${hostPort}`
      const limits = ['--user', '54321:54321', '--memory', '512m', '--publish', `127.0.0.1:${hostPort}:${env.PORT}`]
      const options = ['--rm', '--name', name, '--network', network, ...owned, ...limits, ...around]
      const child = spawn('docker', ['run', ...options, ...envOptions(env), image.reference], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine)
      return {
        port: hostPort,
        ended: new Promise((resolve) => child.once('close', (status) => resolve(status ?? 1))),
        stop: async () => {
          // Repeats the stop, because `docker run` may not have created the container yet.
          while (child.exitCode === null && child.signalCode === null) {
            await docker(['stop', '-t', '30', name]).catch(() => sleep(200))
          }
        },
      }
    },
  }
}

/** Returns docker options with only the names of variables, because process lists show the options. */
function envOptions(env: Record<string, string>): string[] {
  return Object.keys(env).flatMap((name) => ['--env', name])
}

async function removeNames(registry: string): Promise<void> {
  const format = '{{.Repository}}:{{.Tag}}'
  const names = await docker(['image', 'ls', '--filter', `reference=${registry}/*/*`, '--format', format])
  for (const name of names.split('\n').filter(Boolean)) await docker(['image', 'rm', name]).catch(() => {})
}
