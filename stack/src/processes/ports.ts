import { connect, createServer } from 'node:net'

/** Loopback ports of one service and its sidecar. */
export interface ServicePorts {
  http: number
  https: number
  /** Where the sidecar calls the service. */
  channel: number
  daprHttp: number
  daprGrpc: number
  daprInternalGrpc: number
  metrics: number
}

export interface StackPorts {
  kafka: number
  kafkaController: number
  order: ServicePorts
  payment: ServicePorts
}

/** The ports of `make up`: those of each service's appsettings.json and of the documentation. */
export const defaultPorts: StackPorts = {
  kafka: 9092,
  kafkaController: 9093,
  order: {
    http: 5000,
    https: 5001,
    channel: 5100,
    daprHttp: 3500,
    daprGrpc: 3502,
    daprInternalGrpc: 3510,
    metrics: 9090,
  },
  payment: {
    http: 5003,
    https: 5002,
    channel: 5103,
    daprHttp: 3501,
    daprGrpc: 3503,
    daprInternalGrpc: 3511,
    metrics: 9091,
  },
}

/** Ports nobody listens on, so that a test's stack runs beside a running `make up`. */
export async function freePorts(): Promise<StackPorts> {
  const found = new Set<number>()
  while (found.size < 16) {
    // Below every system's ephemeral range: an outgoing connection could take a port of that range before we listen.
    const port = 20_000 + Math.floor(Math.random() * 12_000)
    if (!found.has(port) && (await isPortFree(port))) found.add(port)
  }
  const ports = [...found]
  const next = () => ports.pop() as number
  const service = (): ServicePorts => ({
    http: next(),
    https: next(),
    channel: next(),
    daprHttp: next(),
    daprGrpc: next(),
    daprInternalGrpc: next(),
    metrics: next(),
  })
  return { kafka: next(), kafkaController: next(), order: service(), payment: service() }
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
