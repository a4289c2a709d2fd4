import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** How a database's protocol divides what goes over a connection into messages. */
export interface Protocol {
  /** Bytes of the message that begins here; undefined while too few are there to say. `first` is a client's first message. */
  lengthOf: (bytes: Buffer, from: 'client' | 'server', first: boolean) => number | undefined
  /** Whether a client's message asks about documents, and is no greeting, password or sign of life. */
  asks: (message: Buffer, first: boolean) => boolean
  /** Whether a server's message is the last one of an answer. */
  answers: (message: Buffer) => boolean
}

/** A network whose answers all arrive at the same moment. */
export interface Lockstep {
  port: number
  /**
   * How often somebody waited for an answer while `work` ran: round trips that came one after the other. At other times it is a plain
   * proxy.
   */
  roundTripsOf: (work: () => Promise<unknown>) => Promise<number>
  close: () => void
}

/** Whoever has something to ask that needs no answer before, has asked it by then. */
const quietMs = 100

/**
 * A proxy on loopback. It keeps answers back until every question is answered and nobody has asked another one for a while, and
 * delivers them together: that is one round trip, however many questions were asked at the same time.
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
  /** Timers run before sockets are read: what arrived while this process was held up counts, too. */
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

/** Calls back with each whole message. */
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
