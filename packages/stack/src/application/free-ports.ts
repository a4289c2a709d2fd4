import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { CliError } from '../base/error.ts'
import { commandOf } from '../base/process-table.ts'
import { loopbacks, type ServicePorts, type StackPorts } from './ports.ts'
import { services } from './services.ts'

/** Reserves unused ports for a test's stack until this process ends. */
export async function freePorts(): Promise<StackPorts> {
  const stack = {
    kafka: await freePort(),
    kafkaController: await freePort(),
    moreBrokers: {
      'kafka-2': { broker: await freePort(), controller: await freePort() },
      'kafka-3': { broker: await freePort(), controller: await freePort() },
    },
    postgresql: await freePort(),
    otlp: await freePort(),
    jaeger: await freePort(),
    prometheus: await freePort(),
    exporter: await freePort(),
  }
  const found: Pick<StackPorts, 'inspectors' | 'services'> = { inspectors: {}, services: {} }
  for (const { name } of services) {
    found.inspectors[name] = await freePort()
    found.services[name] = await freeServicePorts()
  }
  return { ...stack, ...found }
}

export async function freeServicePorts(): Promise<ServicePorts> {
  return {
    http: await freePort(),
    https: await freePort(),
    channel: await freePort(),
    daprHttp: await freePort(),
    daprGrpc: await freePort(),
    daprInternalGrpc: await freePort(),
    daprMetrics: await freePort(),
    metrics: await freePort(),
  }
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

function listen(port: number, host = '127.0.0.1'): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, host, () => resolve(server))
  })
}

function answers(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1_000 })
    const done = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', () => done(true))
    socket.once('error', () => done(false))
    socket.once('timeout', () => done(false))
  })
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
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.map(Number).find((pid) => socketInodes(pid).some((inode) => inodes.has(inode)))
}

/**
 * Returns the inodes of sockets from /proc/net/tcp. Column 2 is the local address as HEX:PORT, column 4 the state (0A is LISTEN), and column 10 the
 * inode.
 */
function socketsOn(table: string, port: number, listens: boolean): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0')
  try {
    return readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[1]?.endsWith(`:${hex}`) && (fields[3] === '0A') === listens)
      .map((fields) => fields[9] ?? '')
  } catch {
    return []
  }
}

function socketInodes(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => socketInode(`/proc/${pid}/fd/${fd}`))
  } catch {
    return []
  }
}

/** Returns an empty string if the descriptor is closed or has no socket. */
function socketInode(descriptor: string): string {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(descriptor))?.[1] ?? ''
  } catch {
    return ''
  }
}

function fromLsof(port: number, listens: boolean): number | undefined {
  try {
    const state = listens ? '-sTCP:LISTEN' : '-sTCP:^LISTEN'
    const output = execFileSync('lsof', ['-nP', `-iTCP:${port}`, state, '-t'], { encoding: 'utf8' })
    return Number(output.split('\n')[0]) || undefined
  } catch {
    return undefined
  }
}
