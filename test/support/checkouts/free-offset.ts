import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { isPortFree, localPorts } from '@orderflow/stack/internals'

/** A port that stacks never use, even with an offset. Listening on it reserves an offset until the process ends. */
const claimPort = 4_990

/**
 * Returns an offset with which all ports of a stack are free. The next two ports after each service’s port are also free, for a new
 * service. Offsets are multiples of 1,000, and their ports are below those of `freePorts`. The offset 1,000 is left out, because fetch
 * refuses port 6000 (X11).
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
