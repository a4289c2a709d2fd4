import { StackError } from '../lib/error.ts'
import { commandOf } from '../lib/process-table.ts'
import { isPortFree } from './free-ports.ts'
import { portOwner } from './port-owner.ts'

export interface PortUse {
  port: number
  /** Who wants it: `order-service http`. */
  use: string
}

/**
 * Looks at every port before anything is started.
 * @throws {StackError} `port-in-use` with a line per taken port, naming the process that holds it when it can be seen
 */
export async function requireFreePorts(uses: PortUse[]): Promise<void> {
  const free = await Promise.all(uses.map(({ port }) => isPortFree(port)))
  const taken = uses.filter((_, index) => !free[index])
  if (taken.length === 0) return
  throw new StackError('port-in-use', taken.map(describeTaken).join('\n'), {
    nextStep: 'stop it, then run make up again',
  })
}

function describeTaken({ port, use }: PortUse): string {
  const found = portOwner(port)
  const holder = found ? `pid ${found.pid} (${commandOf(found.pid)})` : 'another process'
  // Where the range for outgoing connections is wider than usual, one may sit on a port of ours for a while.
  const owner = found && !found.listens ? ` by an outgoing connection of ${holder}` : ` by ${holder}`
  // On macOS port 5000 belongs to AirPlay; its switch is in System Settings.
  const airPlay = process.platform === 'darwin' && port === 5000
  const hint = airPlay ? ': switch AirPlay Receiver off in System Settings > General > AirDrop & Handoff' : ''
  return `port ${port} (${use}) is in use${owner}${hint}`
}
