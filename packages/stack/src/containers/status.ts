import { readinessCommand, services } from '../application/services.ts'
import { CliError } from '../base/error.ts'
import { colouredTable, formatDuration } from '../base/terminal.ts'
import { docker } from '../provision/engine.ts'
import type { Readiness, ServiceProbe, StackStatus } from '../runner.ts'
import { type Container, containersOf, containersOfCheckout, serviceOf } from './docker.ts'
import type { Project } from './project.ts'
import { expectedContainers, withoutNumber } from './replicas.ts'

interface Row {
  name: string
  state: string
  isWell: boolean
  /** True also for a restarting or paused container. */
  runs: boolean
  uptime: string
}

export async function dockerStatus(project: Project): Promise<StackStatus> {
  const rows = await readRows(project)
  const isOff = isStopped(rows)
  const colourOf = ({ isWell }: Row): 'dim' | 'green' | 'red' => (isOff ? 'dim' : isWell ? 'green' : 'red')
  const lines = rows.map((row) => ({ cells: [row.name, row.state, row.uptime], colour: colourOf(row) }))
  return {
    lines: colouredTable(['CONTAINER', 'STATE', 'UPTIME'], lines),
    unwell: isOff ? undefined : unwell(rows),
    nextStep: 'make up',
  }
}

/** @throws {CliError} `not-running` with the names of containers that are not healthy */
export async function requireContainers(project: Project, services?: readonly string[]): Promise<void> {
  const names = unwell((await readRows(project)).filter(({ name }) => services?.includes(name) ?? true))
  if (names.length === 0) return
  throw new CliError('not-running', `not all containers run: ${names.join(', ')}`, { nextStep: 'make up' })
}

async function readRows({ name }: Project): Promise<Row[]> {
  return rowsOf(await expectedContainers(), await containersOf(name))
}

export function rowsOf(expected: string[], containers: Container[]): Row[] {
  const rows = containers.map(rowOf)
  const missing = expected.filter((name) => !rows.some((row) => row.name === name))
  const absent = missing.map((name) => ({ name, state: 'missing', isWell: false, runs: false, uptime: '-' }))
  return [...rows, ...absent].sort((a, b) => a.name.localeCompare(b.name))
}

/** A failed container is treated as running, because Docker restarts it. */
export const isStopped = (rows: Row[]): boolean => !rows.some(({ runs }) => runs)

function unwell(rows: Row[]): string[] {
  return rows.filter(({ isWell }) => !isWell).map(({ name, state }) => `${name} (${state})`)
}

function rowOf(container: Container): Row {
  const { State } = container
  const uptime = State.Status === 'running' ? formatDuration(Date.now() - Date.parse(State.StartedAt)) : '-'
  const runs = ['running', 'restarting', 'paused'].includes(State.Status)
  return { name: serviceOf(container), state: stateOf(container), isWell: isWell(container), runs, uptime }
}

function isWell({ State, ...container }: Container): boolean {
  // The container `setup` exits after its work.
  if (serviceOf(container) === 'setup') return State.Status !== 'exited' || State.ExitCode === 0
  return State.Status === 'running' && (State.Health?.Status ?? 'healthy') === 'healthy'
}

function stateOf({ State }: Container): string {
  if (State.Status === 'exited') return `exited (${State.ExitCode})`
  return State.Health ? `${State.Status}, ${State.Health.Status}` : State.Status
}

/** Calls each service inside its container, because only the first replica has a published port. */
export async function runningServices(): Promise<ServiceProbe[]> {
  const running = (await containersOfCheckout()).filter(({ State }) => State.Status === 'running')
  return running.flatMap((container) => {
    const service = services.find(({ name }) => name === withoutNumber(serviceOf(container)))
    if (!service) return []
    // biome-ignore lint/plugin/no-spread-arguments: four arguments
    const printed = () => docker('exec', container.Id, ...readinessCommand(service))
    const ask = async () => JSON.parse(await printed()) as Readiness
    return [{ name: serviceOf(container), ask }]
  })
}
