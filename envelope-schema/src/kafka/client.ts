import { subscribe } from 'node:diagnostics_channel'
import type { EventEmitter } from 'node:events'

export type KafkaClient = typeof import('@platformatic/kafka')

/** The Kafka client is not installed, which only publishing and following need. */
export class ClientMissingError extends Error {
  override name = 'ClientMissingError'
}

/** How to reach Kafka: options that every client of @platformatic/kafka takes. */
export interface KafkaAddress {
  /** `host:port` of each. */
  bootstrapBrokers: string[]
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  /** With a `ca` (PEM) in place of the authorities that Node trusts. */
  tls?: { ca?: string }
}

/**
 * The client, loaded when it is needed.
 * @throws {ClientMissingError} saying what to install
 */
export async function loadClient(): Promise<KafkaClient> {
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

/** Why the client failed, down to what a broker or the network said: its own message alone names the request. */
export function reasonOf(error: unknown): string {
  const {
    message,
    code,
    errors = [],
    cause,
    apiId,
  } = error as Error & { code?: string; errors?: Error[]; apiId?: string }
  const own = [apiId ?? message, code && !message.includes(code) && !code.startsWith('PLT_') ? ` (${code})` : ''].join(
    '',
  )
  const inner = [...errors, cause].filter((each) => each instanceof Error).map(reasonOf)
  return [own, ...new Set(inner)].filter(Boolean).join(': ')
}
