import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** So many connections to a port of this machine that send what they are told to, and then nothing. */
export interface IdleConnections {
  /** How many of them are still open. */
  open: () => number
  close: () => void
}

/** How many are opened at a time: a listener's queue of those that it has still to accept is 511 long. */
const atOnce = 200

/** Resolves when all were accepted and have sent. */
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
