import { StackError } from '../lib/error.ts'
import { paint, print } from '../lib/terminal.ts'
import { formatDuration, formatTable } from '../processes/status.ts'
import { type Container, containersOf, serviceOf } from './docker.ts'
import type { Project } from './project.ts'

/** Prints a line for each container; true when all are as they should be. */
export async function dockerStatus({ name }: Project): Promise<boolean> {
  const containers = (await containersOf(name)).sort((a, b) => serviceOf(a).localeCompare(serviceOf(b)))
  const rows = containers.map((container) => [serviceOf(container), stateOf(container), uptimeOf(container)])
  const [header = '', ...lines] = formatTable([['CONTAINER', 'STATE', 'UPTIME'], ...rows])
  print(paint('bold', header))
  lines.forEach((line, index) => {
    print(paint(isWell(containers[index] as Container) ? 'green' : 'red', line))
  })
  return containers.every(isWell)
}

/** @throws {StackError} `not-running` naming the containers that are not as they should be; of these services, or of all */
export async function requireContainers({ name }: Project, services?: readonly string[]): Promise<void> {
  const containers = (await containersOf(name)).filter((container) => services?.includes(serviceOf(container)) ?? true)
  const unwell = containers.filter((container) => !isWell(container))
  if (unwell.length === 0) return
  const names = unwell.map((container) => `${serviceOf(container)} (${stateOf(container)})`)
  throw new StackError('not-running', `not all containers run: ${names.join(', ')}`, { nextStep: 'make up' })
}

function isWell({ State, ...container }: Container): boolean {
  if (serviceOf({ State, ...container }) === 'setup') return State.Status !== 'exited' || State.ExitCode === 0
  return State.Status === 'running' && (State.Health?.Status ?? 'healthy') === 'healthy'
}

function stateOf({ State }: Container): string {
  if (State.Status === 'exited') return `exited (${State.ExitCode})`
  return State.Health ? `${State.Status}, ${State.Health.Status}` : State.Status
}

function uptimeOf({ State }: Container): string {
  return State.Status === 'running' ? formatDuration(Date.now() - Date.parse(State.StartedAt)) : '-'
}
