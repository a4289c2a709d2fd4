import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { table } from '@orderflow/service-kit/terminal'
import { dockerClean, dockerDown, dockerLogs, dockerScale } from '../containers/commands.ts'
import { containersOf } from '../containers/docker.ts'
import { type Project, readProject } from '../containers/project.ts'
import { dockerStatus } from '../containers/status.ts'
import { dockerUp } from '../containers/up.ts'
import { StackError } from '../lib/error.ts'
import { localFolder } from '../lib/paths.ts'
import { paint, print, timed } from '../lib/terminal.ts'
import { followLog, logTail } from '../processes/logs.ts'
import { logFile, processNames } from '../processes/plan.ts'
import { startStack } from '../processes/start.ts'
import { formatStatus, stackStatus } from '../processes/status.ts'
import { stopStack } from '../processes/stop.ts'
import { localAddresses } from './addresses.ts'
import { chooseWay, runningWay } from './way.ts'

/** `make up`: `STACK` names how to run it, `local` or `docker`; see `chooseWay`. */
export async function up(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<void> {
  const onProgress = timed()
  const way = await chooseWay(env.STACK, onProgress)
  if (way === 'local') await startStack({ onProgress, signal })
  const addresses = way === 'local' ? localAddresses() : await dockerUp({ onProgress, signal })
  onProgress(paint('green', 'up'))
  print()
  const rows = Object.entries(addresses.services).map(([name, { url, httpsUrl }]) => [name, `${url}/`, `${httpsUrl}/`])
  for (const line of table(rows)) print(line)
  print()
  print('next: make demo')
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

/** `make status`: an answer, and the exit code 1 when something that should run does not. A stack that is stopped is well. */
export async function status(): Promise<number> {
  const project = await projectWithContainers()
  const unwell = project ? await dockerStatus(project) : localStatus()
  if (unwell === undefined) print('nothing runs')
  if (unwell?.length) print(`\n${paint('red', 'not as it should be')}: ${unwell.join(', ')}`)
  if (unwell === undefined || unwell.length > 0) print('next: make up')
  return unwell?.length ? 1 : 0
}

/** Prints a line for each process; answers those that do not run, or undefined and nothing when none does. */
function localStatus(): string[] | undefined {
  const rows = stackStatus(localFolder)
  if (rows.every((row) => row.state === 'stopped')) return undefined
  const colours = { running: 'green', stopped: 'dim', crashed: 'red' } as const
  const [header = '', ...lines] = formatStatus(rows)
  print(paint('bold', header))
  lines.forEach((line, index) => {
    print(paint(colours[rows[index]?.state ?? 'stopped'], line))
  })
  return rows.filter(({ state }) => state !== 'running').map(({ name, state }) => `${name} (${state})`)
}

/** The end of every log; of one and what follows when it is named. */
export async function logs(name: string | undefined): Promise<void> {
  if (await projectWithContainers()) return dockerLogs(name)
  if (name) return followLog(localFolder, name)
  for (const process of processNames) {
    print(paint('bold', `==> ${process} (${logFile(localFolder, process)})`))
    print(logTail(localFolder, process, 40))
    print()
  }
}

/** Removes what a stopped stack left: events, orders, payments and logs. Its certificate and secrets stay. */
export async function clean(): Promise<void> {
  if ((await runningWay()) || (await projectWithContainers())) {
    throw new StackError('still-running', 'the stack is running', { nextStep: 'make down, then make clean' })
  }
  const present = ['data', 'logs', 'run'].map((name) => join(localFolder, name)).filter((folder) => existsSync(folder))
  for (const folder of present) rmSync(folder, { recursive: true })
  const project = readProject()
  const volumes = project ? await dockerClean(project).catch(() => []) : []
  for (const what of [...present, ...volumes]) print(`removed ${what}`)
  if (present.length + volumes.length === 0) print('nothing to remove')
}

/** `make scale`, of the stack in containers only: the local one has fixed ports. */
export async function scale(service: string, count: string, signal: AbortSignal): Promise<void> {
  if ((await runningWay()) !== 'docker') {
    throw new StackError('not-running', 'replicas need the stack in containers, and it is not running', {
      nextStep: 'make up STACK=docker',
    })
  }
  await dockerScale(service, count, signal)
}
