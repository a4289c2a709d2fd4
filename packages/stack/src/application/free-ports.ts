import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { attempt, CliError, succeeds } from '../base/error.ts'
import { commandOf, pidsInProc } from '../base/process-table.ts'
import { defaultPorts, loopbacks, mapPorts, type ServicePorts, type StackPorts } from './services.ts'

/** Reserves unused ports for a test's stack until this process ends. */
export const freePorts = (): Promise<StackPorts> => replaced(defaultPorts)

/** Reserves unused ports for a service and its sidecar. */
export const freeServicePorts = (): Promise<ServicePorts> =>
  replaced(Object.values(defaultPorts.services)[0] as ServicePorts)

async function replaced<Ports extends object>(ports: Ports): Promise<Ports> {
  const found: number[] = []
  mapPorts(ports, (port) => found.push(port))
  for (const index of found.keys()) found[index] = await freePort()
  return mapPorts(ports, () => found.shift() as number)
}

/**
 * The ports that tests can reserve. They are above the ports of applications, whose offset is at most 20,000: `make up` of an application may restart a service
 * during a test. They are below the ephemeral range of every system, which outgoing connections use.
 */
const range = { first: 30_000, blocks: 54, blockSize: 50 }
let reserved: number[] = []

export async function freePort(): Promise<number> {
  for (;;) {
    const port = reserved.shift()
    if (port === undefined) reserved = reserved.concat(await reserveBlock())
    else if (await isPortFree(port)) return port
  }
}

async function reserveBlock(): Promise<number[]> {
  const first = range.first + Math.floor(Math.random() * range.blocks) * range.blockSize
  const server = await listen(first)
  if (!server) return reserveBlock()
  server.unref()
  return Array.from({ length: range.blockSize - 1 }, (_, index) => first + 1 + index)
}

/** Checks that this process can listen on each loopback address. For macOS, it also checks that no program answers there. */
export async function isPortFree(port: number): Promise<boolean> {
  for (const host of loopbacks()) {
    const server = await listen(port, host)
    if (!server) return false
    await new Promise((resolve) => server.close(resolve))
    if (await answers(host, port)) return false
  }
  return true
}

async function listen(port: number, host = '127.0.0.1'): Promise<Server | undefined> {
  const server = createServer().listen(port, host)
  return (await succeeds(once(server, 'listening'))) ? server : undefined
}

async function answers(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port })
  const connected = once(socket, 'connect', { signal: AbortSignal.timeout(1_000) })
  return await succeeds(connected).finally(() => socket.destroy())
}

interface PortUse {
  port: number
  /** The use of the port, such as `a-service http`. */
  use: string
}

export const portUses = ({ name, ports }: { name: string; ports: Record<string, number> }): PortUse[] =>
  Object.entries(ports).map(([use, port]) => ({ port, use: `${name} ${use}` }))

/** @throws {CliError} `port-in-use` with the lines of `takenPorts` */
export async function requireFreePorts(uses: PortUse[]): Promise<void> {
  const taken = await takenPorts(uses)
  if (taken.length === 0) return
  throw new CliError('port-in-use', taken.join('\n'), {
    nextStep: 'stop that process, or move the ports of the stack (make up PORT_OFFSET=10000)',
  })
}

/** Returns a line for each used port, with its process if the system shows it. */
export async function takenPorts(uses: PortUse[]): Promise<string[]> {
  const free = await Promise.all(uses.map(({ port }) => isPortFree(port)))
  const taken = uses.filter((_, index) => !free[index])
  return taken.map((use) => {
    const owner = portOwner(use.port)
    return describeConflict(use, owner && { ...owner, command: commandOf(owner.pid) })
  })
}

export function describeConflict({ port, use }: PortUse, owner: (PortOwner & { command: string }) | undefined): string {
  const holder = owner ? `pid ${owner.pid} (${owner.command})` : 'another process'
  // An outgoing connection can use a port of the stack if this port is in the machine's ephemeral range.
  const how = owner && !owner.listens ? `an outgoing connection of ${holder}` : holder
  // AirPlay of macOS uses port 5000.
  const isAirPlay = owner?.command.startsWith('ControlCenter')
  const hint = isAirPlay ? ': switch AirPlay Receiver off in System Settings > General > AirDrop & Handoff' : ''
  return `port ${port} (${use}) is in use by ${how}${hint}`
}

interface PortOwner {
  pid: number
  /** False if the port is the local port of an outgoing connection. */
  listens: boolean
}

function portOwner(port: number): PortOwner | undefined {
  for (const listens of [true, false]) {
    const pid = process.platform === 'linux' ? fromProc(port, listens) : fromLsof(port, listens)
    if (pid) return { pid, listens }
  }
  return undefined
}

function fromProc(port: number, listens: boolean): number | undefined {
  const inodes = new Set(['tcp', 'tcp6'].flatMap((table) => socketsOn(table, port, listens)))
  if (inodes.size === 0) return undefined
  return pidsInProc().find((pid) => socketInodes(pid).some((inode) => inodes.has(inode)))
}

/**
 * Returns the inodes of sockets from /proc/net/tcp. Column 2 is the local address as HEX:PORT, column 4 the state (0A is LISTEN), and column 10 the
 * inode.
 */
function socketsOn(table: string, port: number, listens: boolean): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  const lines = attempt(() => readFileSync(`/proc/net/${table}`, 'utf8').split('\n')) ?? []
  return lines
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(`:${hex}`) && (fields[3] === '0A') === listens)
    .map((fields) => fields[9] ?? '')
}

/** Leaves out descriptors that were closed in the meantime. */
function socketInodes(pid: number): string[] {
  const folder = `/proc/${pid}/fd`
  const targets = (attempt(() => readdirSync(folder)) ?? []).map((fd) => attempt(() => readlinkSync(`${folder}/${fd}`)))
  return targets.flatMap((target = '') => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? [])
}

function fromLsof(port: number, listens: boolean): number | undefined {
  const args = ['-nP', `-iTCP:${port}`, listens ? '-sTCP:LISTEN' : '-sTCP:^LISTEN', '-t']
  const output = attempt(() => execFileSync('lsof', args, { encoding: 'utf8' }))
  return Number(output?.split('\n')[0]) || undefined
}
