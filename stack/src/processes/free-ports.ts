import { connect, createServer } from 'node:net'
import type { ServicePorts, StackPorts } from '../lib/ports.ts'
import { services } from '../lib/services.ts'

/** Ports nobody listens on, so that a test's stack runs beside a running `make up`. */
export async function freePorts(): Promise<StackPorts> {
  const next = portFinder()
  const stack = { kafka: await next(), kafkaController: await next() }
  const found: StackPorts['services'] = {}
  for (const { name } of services) found[name] = await service(next)
  return { ...stack, services: found }
}

/** The same for one more service with its sidecar. */
export function freeServicePorts(): Promise<ServicePorts> {
  return service(portFinder())
}

async function service(next: () => Promise<number>): Promise<ServicePorts> {
  return {
    http: await next(),
    https: await next(),
    channel: await next(),
    daprHttp: await next(),
    daprGrpc: await next(),
    daprInternalGrpc: await next(),
    metrics: await next(),
  }
}

/** Finds another free port with each call. */
function portFinder(): () => Promise<number> {
  const found = new Set<number>()
  return async function next(): Promise<number> {
    // Below every system's ephemeral range: an outgoing connection could take a port of that range before we listen.
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (found.has(port)) return next()
    found.add(port)
    return (await isPortFree(port)) ? port : next()
  }
}

/**
 * True when we can listen on 127.0.0.1 and nothing answers on either loopback address. Listening alone does not tell:
 * macOS lets us bind beside a listener on all interfaces, and a browser's `localhost` tries ::1 first.
 */
export async function isPortFree(port: number): Promise<boolean> {
  if (!(await canListen(port))) return false
  return !(await answers('127.0.0.1', port)) && !(await answers('::1', port))
}

function canListen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
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
