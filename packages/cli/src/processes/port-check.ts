import { StackError } from '../lib/error.ts'
import { commandOf } from '../lib/process-table.ts'
import { isPortFree } from './free-ports.ts'
import { type PortOwner, portOwner } from './port-owner.ts'
import type { ProcessSpec } from './process-spec.ts'

export interface PortUse {
  port: number
  /** Who wants it: `a-service http`. */
  use: string
}

/** What a process listens on: `a-service http`. */
export const portUses = ({ name, ports }: Pick<ProcessSpec, 'name' | 'ports'>): PortUse[] =>
  Object.entries(ports).map(([use, port]) => ({ port, use: `${name} ${use}` }))

/**
 * Looks at every port before anything is started.
 * @throws {StackError} `port-in-use` with a line per taken port, naming the process that holds it when it can be seen
 */
export async function requireFreePorts(uses: PortUse[]): Promise<void> {
  const taken = await takenPorts(uses)
  if (taken.length === 0) return
  throw new StackError('port-in-use', taken.join('\n'), {
    nextStep: 'stop it, or move the ports of the stack: export PORT_OFFSET=10000; then run make up again',
  })
}

/** A line for each of these ports that is taken: by whom, where the system shows it. */
export async function takenPorts(uses: PortUse[]): Promise<string[]> {
  const free = await Promise.all(uses.map(({ port }) => isPortFree(port)))
  const taken = uses.filter((_, index) => !free[index])
  return taken.map((use) => {
    const owner = portOwner(use.port)
    return describeTaken(use, owner && { ...owner, command: commandOf(owner.pid) })
  })
}

/** `port 5000 (a-service http) is in use by pid 7 (node main.ts)` */
export function describeTaken({ port, use }: PortUse, owner: (PortOwner & { command: string }) | undefined): string {
  const holder = owner ? `pid ${owner.pid} (${owner.command})` : 'another process'
  // Where the range for outgoing connections is wider than usual, one may sit on a port of ours for a while.
  const how = owner && !owner.listens ? `an outgoing connection of ${holder}` : holder
  // On macOS AirPlay has port 5000.
  const isAirPlay = owner?.command.startsWith('ControlCenter')
  const hint = isAirPlay ? ': switch AirPlay Receiver off in System Settings > General > AirDrop & Handoff' : ''
  return `port ${port} (${use}) is in use by ${how}${hint}`
}
