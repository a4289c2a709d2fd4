import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { repository } from '../application/paths.ts'
import { CliError } from '../base/error.ts'
import { docker } from '../provision/engine.ts'
import { readProject } from './project.ts'
import { composeEnvironment } from './variables.ts'

export interface Container {
  Id: string
  Name: string
  /** The id of its image. */
  Image: string
  Config: { Labels: Record<string, string>; Image: string; Env: string[] }
  HostConfig: { NetworkMode: string }
  State: { Status: string; ExitCode: number; StartedAt: string; Health?: { Status: string } }
}

export async function containersOf(project: string): Promise<Container[]> {
  const ids = await docker('ps', '--all', '--quiet', '--filter', `label=com.docker.compose.project=${project}`)
  if (!ids.trim()) return []
  // biome-ignore lint/plugin/no-spread-arguments: a project has some twenty containers
  return JSON.parse(await docker('inspect', ...ids.trim().split('\n'))) as Container[]
}

/** Returns an empty list without a Docker engine. */
export async function containersOfCheckout(): Promise<Container[]> {
  const project = readProject()
  return project ? await containersOf(project.name).catch(() => []) : []
}

/** Returns the container's name in docker-compose.yml. */
export function serviceOf({ Config }: Pick<Container, 'Config'>): string {
  return Config.Labels['com.docker.compose.service'] ?? ''
}

/**
 * Runs Docker Compose, which shows progress only on a terminal.
 * @throws {CliError} `compose-failed` with Compose's exit code, after Compose has printed the reason; `interrupted` after Ctrl-C
 */
export async function compose(files: string[], args: string[], signal?: AbortSignal): Promise<void> {
  const progress = process.stdout.isTTY ? [] : ['--progress', 'quiet']
  const child = spawn('docker', ['compose', ...progress, ...files.flatMap((file) => ['-f', file]), ...args], {
    cwd: repository,
    env: composeEnvironment(),
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  signal?.addEventListener('abort', () => child.kill('SIGINT'))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code === 0) return
  // Ctrl-C also reaches Compose, because it shares our terminal. Compose then ends with 130.
  if (code === null || code === 130) throw new CliError('interrupted', 'interrupted')
  throw new CliError('compose-failed', `docker compose ${args[0]} ended with ${code}`, {
    nextStep: 'make status, make logs',
  })
}
