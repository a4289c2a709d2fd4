// Apart from the client: whoever publishes compiles without its types.

/** The Kafka client, which only publishing and following need, is not installed or cannot run here. */
export class ClientMissingError extends Error {
  override name = 'ClientMissingError'
}

/** Address of Kafka, as options of every client of @platformatic/kafka. */
export interface KafkaAddress {
  /** `host:port` of each. */
  bootstrapBrokers: string[]
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  /** TLS; a `ca` (PEM) replaces the authorities that Node trusts. */
  tls?: { ca?: string }
}

/** Returns why the client failed, with the causes from the broker or network: its own message only names the request. */
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
