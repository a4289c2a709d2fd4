import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A proxy between a Kafka client and a broker. */
export interface FetchProxy {
  port: number
  /** While true, clients receive no records. All other requests and answers, such as heartbeats, pass unchanged. */
  isEmpty: boolean
  close(): void
}

/** The key of Kafka's Fetch request. */
const fetchKey = 1
/** The versions of Fetch whose answers `withoutRecords` can read. Dapr's Kafka client uses version 8 or an older one. */
const versions = { first: 4, last: 11 }

/**
 * Starts a proxy to the broker at `brokerPort`. Dapr's client sends heartbeats and fetches on one connection, and expects the answers in the order of
 * the requests. So the proxy cannot swallow a request.
 */
export async function startFetchProxy(brokerPort: number): Promise<FetchProxy> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((client) => {
    const broker = connect(brokerPort, '127.0.0.1')
    const fetches = new Map<number, number>()
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => other.destroy()).on('close', () => other.destroy())
      socket.on('close', () => sockets.delete(socket))
    }
    client.on(
      'data',
      framesOf((frame) => {
        if (frame.readInt16BE(4) === fetchKey) fetches.set(frame.readInt32BE(8), frame.readInt16BE(6))
        broker.write(frame)
      }),
    )
    broker.on(
      'data',
      framesOf((frame) => {
        const version = fetches.get(frame.readInt32BE(4))
        fetches.delete(frame.readInt32BE(4))
        client.write(proxy.isEmpty && version !== undefined ? withoutRecords(frame, version) : frame)
      }),
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy: FetchProxy = {
    port: (server.address() as AddressInfo).port,
    isEmpty: false,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
  return proxy
}

/** Returns a listener that collects chunks, and passes on each complete frame: its size in four bytes, and its content. */
function framesOf(pass: (frame: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 4 && rest.length >= 4 + rest.readInt32BE(0)) {
      const end = 4 + rest.readInt32BE(0)
      pass(rest.subarray(0, end))
      rest = rest.subarray(end)
    }
  }
}

/** Returns an answer to Fetch with the same partitions, but without records. */
function withoutRecords(frame: Buffer, version: number): Buffer {
  if (version < versions.first || version > versions.last) throw new Error(`version ${version} of Fetch is unknown`)
  const parts: Buffer[] = []
  let start = 0
  // Size, correlation id, throttle time, and from version 7 on, error and session.
  let at = version >= 7 ? 18 : 12
  const count = () => {
    const value = frame.readInt32BE(at)
    at += 4
    return value
  }
  for (let topics = count(); topics > 0; topics -= 1) {
    at += 2 + frame.readInt16BE(at)
    for (let partitions = count(); partitions > 0; partitions -= 1) {
      // Partition, error, high watermark, last stable offset, and from version 5 on, the start of the log.
      at += version >= 5 ? 30 : 22
      at += 16 * Math.max(0, count())
      if (version >= 11) at += 4
      parts.push(frame.subarray(start, at), Buffer.alloc(4))
      at += Math.max(0, count())
      start = at
    }
  }
  const whole = Buffer.concat([...parts, frame.subarray(start)])
  whole.writeInt32BE(whole.length - 4, 0)
  return whole
}
