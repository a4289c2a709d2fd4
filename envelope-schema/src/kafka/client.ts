import { subscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'
import { ClientMissingError } from './address.ts'

export type KafkaClient = typeof import('@platformatic/kafka')

/**
 * The client, loaded when it is needed.
 * @throws {ClientMissingError} saying what to install, or which Node
 */
export async function loadClient(): Promise<KafkaClient> {
  // It starts on an older one, and ends it at the first request.
  if (Number.parseInt(process.versions.node, 10) < 22) {
    throw new ClientMissingError(`needs Node 22.22 or newer for the Kafka client; this is ${process.version}`)
  }
  try {
    const client = await import('@platformatic/kafka')
    subscribe('plt:kafka:instances', outliveReset)
    return client
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new ClientMissingError('needs a Kafka client: npm install @platformatic/kafka@2', { cause })
  }
}

/**
 * A connection (2.12) tells twice of a reset that comes while it logs in with SASL, and by the second time nobody listens, which
 * would end the process. The client's own error comes with the first.
 */
function outliveReset(message: unknown): void {
  const { type, instance } = message as { type: string; instance: EventEmitter }
  if (type === 'connection') instance.on('error', () => {})
}
