import { ClientMissingError } from './address.ts'
import './resets.ts'

export type KafkaClient = typeof import('@platformatic/kafka')

/**
 * Loads the Kafka client when it is first needed.
 * @throws {ClientMissingError} naming the missing package or Node version
 */
export async function loadClient(): Promise<KafkaClient> {
  // On an older Node, the client starts but ends the process at the first request.
  if (Number.parseInt(process.versions.node, 10) < 22) {
    throw new ClientMissingError(`needs Node 22.22 or newer for the Kafka client; this is ${process.version}`)
  }
  try {
    return await import('@platformatic/kafka')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new ClientMissingError('needs a Kafka client: npm install @platformatic/kafka@2', { cause })
  }
}
