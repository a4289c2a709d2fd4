// Apart from the client: whoever publishes compiles without its types.

/** The Kafka client, which only publishing and following need, is not installed or cannot run here. */
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
