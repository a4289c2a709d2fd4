// This file is separate from client.ts, so that publishers can compile without the types of the Kafka client.

/** Reports that the Kafka client is missing, or that it needs a newer Node. */
export class ClientMissingError extends Error {
  override name = 'ClientMissingError'
}

/** The address of Kafka, as options of every client of @platformatic/kafka. */
export interface KafkaAddress {
  /** `host:port` of each broker. */
  bootstrapBrokers: string[]
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  /** TLS; a `ca` (PEM) replaces the authorities that Node trusts. */
  tls?: { ca?: string }
}

/** Returns why the client failed. The client's own message names only the request, so the causes are added. */
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
