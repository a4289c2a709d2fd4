import { randomInt } from 'node:crypto'
import { isPortFree } from '@orderflow/stack'
import { localPorts } from '@orderflow/stack/parts'

/**
 * What puts all ports of a stack, and those next to them, which a new service would get, where nobody listens: below every system's
 * range for outgoing connections.
 */
export async function freeOffset(): Promise<number> {
  const offset = randomInt(11_000, 23_000)
  const { kafka, kafkaController, services } = localPorts({ PORT_OFFSET: String(offset) })
  const ports = Object.values(services).flatMap((own) => Object.values(own))
  const all = new Set([kafka, kafkaController, ...ports.flatMap((port) => [port, port + 1, port + 2])])
  return (await Promise.all([...all].map(isPortFree))).every(Boolean) ? offset : freeOffset()
}
