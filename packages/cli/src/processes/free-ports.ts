import { connect, createServer, type Server } from 'node:net'
import { loopbacks } from '../lib/loopbacks.ts'
import type { ServicePorts, StackPorts } from '../lib/ports.ts'
import { services } from '../lib/services.ts'

/**
 * Ports that nobody listens on, so that a test's stack runs beside a running `make up`. No other process is given them for as
 * long as this one lives, and this one is given them once.
 */
export async function freePorts(): Promise<StackPorts> {
  const stack = {
    kafka: await freePort(),
    kafkaController: await freePort(),
    postgresql: await freePort(),
    otlp: await freePort(),
    jaeger: await freePort(),
    prometheus: await freePort(),
    exporter: await freePort(),
  }
  const found: StackPorts['services'] = {}
  for (const { name } of services) found[name] = await freeServicePorts()
  return { ...stack, services: found }
}

/** The same for one more service with its sidecar. */
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

/** Below every system's ephemeral range: an outgoing connection could take a port of that range before we listen. */
const range = { first: 20_000, blocks: 120, blockSize: 100 }
/** Of this process, and not given yet. */
let reserved: number[] = []

/** One such port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = reserved.shift()
    if (port === undefined) reserved = reserved.concat(await reserveBlock())
    else if (await isPortFree(port)) return port
  }
}

/** Whoever listens on the first port of a block has the block: the system lets only one, and ends it with the process. */
async function reserveBlock(): Promise<number[]> {
  const first = range.first + Math.floor(Math.random() * range.blocks) * range.blockSize
  const server = await listen(first)
  if (!server) return reserveBlock()
  server.unref()
  return Array.from({ length: range.blockSize - 1 }, (_, index) => first + 1 + index)
}

/**
 * True when we can listen on each loopback address of this machine and nothing answers there. Listening alone does not tell: macOS
 * lets us bind beside a listener on all interfaces.
 */
export async function isPortFree(port: number): Promise<boolean> {
  for (const host of loopbacks()) {
    const server = await listen(port, host)
    if (!server) return false
    await new Promise((resolve) => server.close(resolve))
    if (await answers(host, port)) return false
  }
  return true
}

/** Undefined when we cannot. */
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
