import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Connections to a port of this machine. Each has sent a text and then stays idle. */
export interface IdleConnections {
  open: () => number
  close: () => void
}

/** The number of connections opened at a time. A listener’s queue holds 511 unaccepted connections. */
const atOnce = 200

/** Resolves when all connections were accepted and have sent the text. */
export async function idleConnections(url: string, count: number, sent = ''): Promise<IdleConnections> {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(atOnce, count - sockets.length) }, () => connect(Number(port), hostname))
    sockets.push(...some)
    await Promise.all(some.map((socket) => once(socket, 'connect')))
    for (const socket of some)
      socket
        .on('error', () => {})
        .resume()
        .write(sent)
  }
  return {
    open: () => sockets.filter(({ readyState }) => readyState === 'open').length,
    close: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}
