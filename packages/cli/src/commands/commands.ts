import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { table } from '@orderflow/service-kit/terminal'
import { dockerClean, dockerDown, dockerLogs, dockerScale } from '../containers/commands.ts'
import { containersOf } from '../containers/docker.ts'
import { type Project, readProject } from '../containers/project.ts'
import { expectedContainers } from '../containers/replicas.ts'
import { dockerRestart } from '../containers/restart.ts'
import { dockerStatus } from '../containers/status.ts'
import { dockerUp } from '../containers/up.ts'
import { type Addresses, watchUrl } from '../kafka/connection.ts'
import { topics } from '../kafka/topics.ts'
import { StackError } from '../lib/error.ts'
import { localFolder } from '../lib/paths.ts'
import { serviceNamed } from '../lib/services.ts'
import { paint, print, timed } from '../lib/terminal.ts'
import { showLogs } from '../processes/logs.ts'
import { presentNames, processNamesWith, storeOf } from '../processes/plan.ts'
import { restartProcesses } from '../processes/restart.ts'
import { startStack } from '../processes/start.ts'
import { formatStatus, stackStatus } from '../processes/status.ts'
import { stopStack } from '../processes/stop.ts'
import { localAddresses } from './addresses.ts'
import { ensureApiKeys } from './api-key.ts'
import { chooseStore, requireStore } from './store.ts'
import { runningContainers, runningProcesses, streamTroubles, troublesOf } from './troubles.ts'
import { chooseWay, runningWay } from './way.ts'

interface UpOptions {
  onProgress: (line: string) => void
  signal: AbortSignal
}

/** `make up`: `STACK` names how to run it, `local` or `docker`, and `STORE` with which store; see `chooseWay` and `chooseStore`. */
export async function up(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const onProgress = timed()
  const options = { onProgress, signal }
  if (env.STORE) requireStore(undefined, env.STORE)
  const way = await chooseWay(env, options)
  // For services that are closed, and before an engine makes its folder as root.
  ensureApiKeys()
  const addresses = way === 'local' ? await upLocal(env, options) : await upDocker(env, options)
  onProgress(paint('green', 'up'))
  print()
  const rows = Object.entries(addresses.services).map(([name, { url, httpsUrl }]) => [name, `${url}/`, `${httpsUrl}/`])
  for (const line of table(rows)) print(line)
  print()
  print(`see what happens: ${watchUrl(addresses)}/`)
  print('next: make demo')
}

async function upLocal({ STORE }: NodeJS.ProcessEnv, options: UpOptions): Promise<Addresses> {
  await startStack({ store: await chooseStore('local', STORE, options.onProgress), ...options })
  return localAddresses()
}

async function upDocker({ STORE }: NodeJS.ProcessEnv, options: UpOptions): Promise<Addresses> {
  return await dockerUp({ store: await chooseStore('docker', STORE, options.onProgress), ...options })
}

/** `make down`, whichever way the stack was started. */
export async function down(): Promise<void> {
  const stopped = await stopStack(localFolder, timed())
  const project = await projectWithContainers()
  if (project) await dockerDown()
  print(stopped.length > 0 || project ? 'down' : 'nothing was running')
}

/** The project of this checkout when it has containers, stopped ones too. */
async function projectWithContainers(): Promise<Project | undefined> {
  const project = readProject()
  const containers = project ? await containersOf(project.name).catch(() => []) : []
  return containers.length > 0 ? project : undefined
}

/**
 * `make status`. Returns the exit code: 1 when something that should run does not, or runs and cannot do its work. A stack that is stopped
 * is well.
 */
export async function status(): Promise<number> {
  const project = await shownProject()
  const unwell = project ? await dockerStatus(project) : localStatus()
  if (unwell === undefined) {
    print('stopped; `make up` starts it')
    return 0
  }
  const stream = project
    ? streamTroubles(project.kafka, topics.containers)
    : streamTroubles(localAddresses().kafka, topics.processes)
  const services = troublesOf(project ? await runningContainers(project) : runningProcesses(localFolder))
  const troubles = (await Promise.all([services, stream])).flat()
  if (troubles.length > 0) print()
  for (const trouble of troubles) print(paint('red', trouble))
  if (unwell.length === 0) return troubles.length > 0 ? 1 : 0
  print(`\n${paint('red', 'not as it should be')}: ${unwell.join(', ')}`)
  const own = processNamesWith(storeOf(localFolder))
  const isBesideIt = !project && !own.some((name) => unwell.some((line) => line.startsWith(`${name} (`)))
  print(`next: make ${isBesideIt ? 'observe' : 'up'}`)
  return 1
}

/** The project of this checkout when it has containers, stopped ones too, and no processes run instead. */
async function shownProject(): Promise<Project | undefined> {
  return (await runningWay()) === 'local' ? undefined : await projectWithContainers()
}

/** Prints a line for each process; answers those that do not run, or undefined and nothing when none does. */
function localStatus(): string[] | undefined {
  const rows = stackStatus(localFolder, presentNames(localFolder))
  if (rows.every((row) => row.state === 'stopped')) return undefined
  const colours = { running: 'green', stopped: 'dim', crashed: 'red' } as const
  const [header = '', ...lines] = formatStatus(rows)
  print(paint('bold', header))
  lines.forEach((line, index) => {
    print(paint(colours[rows[index]?.state ?? 'stopped'], line))
  })
  return rows.filter(({ state }) => state !== 'running').map(({ name, state }) => `${name} (${state})`)
}

/**
 * `make logs`: of all, or of the one that is named. On a terminal it follows what runs; in a pipe or a file it shows the end, since
 * there it would never come to one.
 * @param shouldFollow whether to follow, on a terminal or not
 * @throws {StackError} `usage` for a name that none has
 */
export async function logs(
  name: string | undefined,
  shouldFollow: boolean | undefined,
  signal: AbortSignal,
): Promise<void> {
  const project = await shownProject()
  const names = project ? await expectedContainers() : presentNames(localFolder)
  if (name && !names.includes(name)) {
    throw new StackError('usage', `there is no log of ${name}`, { nextStep: `SERVICE is one of ${names.join(', ')}` })
  }
  const follow = shouldFollow ?? (process.stdout.isTTY && (await runningWay()) !== undefined)
  const shown = name ? [name] : names
  if (project) await dockerLogs([...shown], { follow, signal })
  else await showLogs(localFolder, shown, { follow, signal })
}

/** Removes what a stopped stack left: events, orders, payments and logs. Its certificate and secrets stay. */
export async function clean(): Promise<void> {
  if ((await runningWay()) || (await projectWithContainers())) {
    throw new StackError('still-running', 'the stack is running', { nextStep: 'make down, then ./orderflow clean' })
  }
  const present = ['data', 'logs', 'run'].map((name) => join(localFolder, name)).filter((folder) => existsSync(folder))
  for (const folder of present) rmSync(folder, { recursive: true })
  const project = readProject()
  const volumes = project ? await dockerClean(project).catch(() => []) : []
  for (const what of [...present, ...volumes]) print(`removed ${what}`)
  if (present.length + volumes.length === 0) print('nothing to remove')
}

/**
 * `./orderflow restart`: stops a service and its sidecar in order and starts them again, one replica after the other.
 * @throws {StackError} `usage` for an unknown service, `not-running`
 */
export async function restart(name: string | undefined, signal: AbortSignal): Promise<void> {
  const service = serviceNamed(name)
  const onProgress = timed()
  const project = (await runningWay()) === 'docker' ? readProject() : undefined
  if (project) await dockerRestart(project, service, onProgress)
  else await restartProcesses(service, { onProgress, signal })
}

/** `./orderflow scale`, of the stack in containers only: the local one has fixed ports. */
export async function scale(service: string, count: string, signal: AbortSignal): Promise<void> {
  if ((await runningWay()) !== 'docker') {
    throw new StackError('not-running', 'replicas need the stack in containers, and it is not running', {
      nextStep: 'make up STACK=docker',
    })
  }
  await dockerScale(service, count, signal)
}
