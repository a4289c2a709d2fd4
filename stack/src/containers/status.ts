import { table } from '@orderflow/service-kit/terminal'
import { formatDuration } from '../lib/duration.ts'
import { StackError } from '../lib/error.ts'
import { paint, print } from '../lib/terminal.ts'
import { type Container, containersOf, serviceOf } from './docker.ts'
import type { Project } from './project.ts'
import { expectedContainers } from './replicas.ts'

/** A container that there should be, or one too many. */
interface Row {
  name: string
  state: string
  isWell: boolean
  uptime: string
}

/** Prints a line for each container; answers what is not as it should be, such as `order-sidecar (missing)`. */
export async function dockerStatus(project: Project): Promise<string[]> {
  const rows = await readRows(project)
  const [header = '', ...lines] = table([
    ['CONTAINER', 'STATE', 'UPTIME'],
    ...rows.map(({ name, state, uptime }) => [name, state, uptime]),
  ])
  print(paint('bold', header))
  for (const [index, line] of lines.entries()) print(paint(rows[index]?.isWell ? 'green' : 'red', line))
  return unwell(rows)
}

/** @throws {StackError} `not-running` naming the containers that are not as they should be; of these services, or of all */
export async function requireContainers(project: Project, services?: readonly string[]): Promise<void> {
  const names = unwell((await readRows(project)).filter(({ name }) => services?.includes(name) ?? true))
  if (names.length === 0) return
  throw new StackError('not-running', `not all containers run: ${names.join(', ')}`, { nextStep: 'make up' })
}

async function readRows({ name }: Project): Promise<Row[]> {
  return rowsOf(await expectedContainers(), await containersOf(name))
}

/** The containers that there are, and those of `expected` that there are not. */
export function rowsOf(expected: string[], containers: Container[]): Row[] {
  const rows = containers.map(rowOf)
  const missing = expected.filter((name) => !rows.some((row) => row.name === name))
  const absent = missing.map((name) => ({ name, state: 'missing', isWell: false, uptime: '-' }))
  return [...rows, ...absent].sort((a, b) => a.name.localeCompare(b.name))
}

function unwell(rows: Row[]): string[] {
  return rows.filter(({ isWell }) => !isWell).map(({ name, state }) => `${name} (${state})`)
}

function rowOf(container: Container): Row {
  const { State } = container
  const uptime = State.Status === 'running' ? formatDuration(Date.now() - Date.parse(State.StartedAt)) : '-'
  return { name: serviceOf(container), state: stateOf(container), isWell: isWell(container), uptime }
}

function isWell({ State, ...container }: Container): boolean {
  // It ends when it has done its work.
  if (serviceOf(container) === 'setup') return State.Status !== 'exited' || State.ExitCode === 0
  return State.Status === 'running' && (State.Health?.Status ?? 'healthy') === 'healthy'
}

function stateOf({ State }: Container): string {
  if (State.Status === 'exited') return `exited (${State.ExitCode})`
  return State.Health ? `${State.Status}, ${State.Health.Status}` : State.Status
}
