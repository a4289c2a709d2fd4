import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Divides the bytes of a database connection into messages. */
export interface Protocol {
  /** Returns the length of the message that begins here, or undefined if more bytes are necessary to know it. */
  lengthOf: (bytes: Buffer, from: 'client' | 'server', first: boolean) => number | undefined
  /** Returns true if a client’s message reads or writes documents. */
  asks: (message: Buffer, first: boolean) => boolean
  /** Returns true if a server’s message ends an answer. */
  answers: (message: Buffer) => boolean
}

export interface Lockstep {
  port: number
  /** Returns the number of consecutive round trips during `work`. */
  roundTripsOf: (work: () => Promise<unknown>) => Promise<number>
  close: () => void
}

/** Within this time, clients send all requests that do not depend on an earlier answer. */
const quietMs = 100

/**
 * Starts a proxy on loopback. It holds answers until every request has an answer and no new request arrives for a while. Then it delivers
 * all held answers together. The proxy treats this as one round trip.
 */
export async function openLockstep(upstreamPort: number, protocol: Protocol): Promise<Lockstep> {
  const sockets = new Set<Socket>()
  let unanswered = 0
  let counting = false
  let roundTrips = 0
  let held: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let soon: NodeJS.Immediate | undefined

  function wait() {
    clearTimeout(timer)
    clearImmediate(soon)
    if (held.length > 0) timer = setTimeout(readFirst, quietMs)
  }
  /** Reads the sockets before the release, because a timer may run before arrived data is read. */
  function readFirst() {
    soon = setImmediate(release)
  }
  function release() {
    if (unanswered > 0) return
    roundTrips += 1
    const released = held
    held = []
    for (const deliver of released) deliver()
  }

  const server = createServer((client) => {
    const upstream = connect(upstreamPort, '127.0.0.1')
    let waiting = 0
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
        unanswered -= waiting
        waiting = 0
        wait()
      })
    }
    const ofClient = divided('client', protocol, (message, first) => {
      if (counting && protocol.asks(message, first)) {
        waiting += 1
        unanswered += 1
        wait()
      }
      upstream.write(message)
    })
    const ofServer = divided('server', protocol, (message) => {
      if (waiting === 0) return void client.write(message)
      held.push(() => client.write(message))
      if (protocol.answers(message)) {
        waiting -= 1
        unanswered -= 1
      }
      wait()
    })
    client.on('data', ofClient)
    upstream.on('data', ofServer)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    port: (server.address() as AddressInfo).port,
    async roundTripsOf(work) {
      counting = true
      roundTrips = 0
      await work()
      counting = false
      return roundTrips
    },
    close() {
      clearTimeout(timer)
      clearImmediate(soon)
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

function divided(
  from: 'client' | 'server',
  { lengthOf }: Protocol,
  onMessage: (message: Buffer, first: boolean) => void,
): (chunk: Buffer) => void {
  let bytes = Buffer.alloc(0)
  let first = true
  return (chunk) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const length = lengthOf(bytes, from, first)
      if (length === undefined || bytes.length < length) return
      const message = bytes.subarray(0, length)
      bytes = bytes.subarray(length)
      onMessage(message, first)
      first = false
    }
  }
}
