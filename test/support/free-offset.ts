import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { isPortFree, localPorts } from '@orderflow/cli'

/** No stack has this port, however far its own are moved: who listens on it has the offset, until the process ends. */
const claimPort = 4_990

/**
 * What puts all ports of a stack, and those next to them, which a new service would get, where nobody listens. Offsets are thousands,
 * so that no two of them share a port, and none is one that `freePorts` gives (from 20,000 on). 1,000 is left out: fetch refuses
 * port 6000, which is X11's.
 */
export async function freeOffset(): Promise<number> {
  const offset = 1_000 * randomInt(2, 11)
  const { kafka, kafkaController, postgresql, services } = localPorts({ PORT_OFFSET: String(offset) })
  const ports = Object.values(services).flatMap((own) => Object.values(own))
  const all = new Set([kafka, kafkaController, postgresql, ...ports.flatMap((port) => [port, port + 1, port + 2])])
  const isFree = (await claim(claimPort + offset)) && (await Promise.all([...all].map(isPortFree))).every(Boolean)
  return isFree ? offset : freeOffset()
}

async function claim(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1').unref()
  return await once(server, 'listening').then(
    () => true,
    () => false,
  )
}
