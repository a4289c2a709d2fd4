import '@orderflow/envelope-schema/kafka-resets'

/**
 * How to reach Kafka: for the sidecar (components/kafka.yaml, with Dapr's names and values), for readiness, and for what an
 * operator runs.
 */
export interface StreamSettings {
  /** Bootstrap servers, separated by commas. */
  Brokers: string
  AuthType: 'none' | 'password'
  SaslMechanism: keyof typeof mechanisms
  SaslUsername: string
  SaslPassword: string
  DisableTls: boolean
  /** PEM; empty for the authorities that the system trusts. */
  CaCert: string
}

/** How a plain Kafka client reaches the broker: options that every client of @platformatic/kafka takes. */
export interface KafkaConnection {
  bootstrapBrokers: string[]
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  tls?: { ca?: string }
}

/** Without a password the rest does not matter. */
type Needed = Pick<StreamSettings, 'Brokers'> & ({ AuthType: 'none' } | (StreamSettings & { AuthType: 'password' }))

/** Dapr's names of the mechanisms (components/kafka.yaml), and everybody else's. */
const mechanisms = { PLAINTEXT: 'PLAIN', 'SHA-256': 'SCRAM-SHA-256', 'SHA-512': 'SCRAM-SHA-512' } as const

export function isSaslMechanism(name: string): name is keyof typeof mechanisms {
  return Object.hasOwn(mechanisms, name)
}

/** The connection that settings describe; undefined when no broker is named. */
export function connectionOf(stream: Needed): KafkaConnection | undefined {
  const bootstrapBrokers = stream.Brokers.split(',').filter(Boolean)
  if (bootstrapBrokers.length === 0) return undefined
  if (stream.AuthType === 'none') return { bootstrapBrokers }
  const { SaslUsername: username, SaslPassword: password } = stream
  const sasl = { mechanism: mechanisms[stream.SaslMechanism], username, password }
  if (stream.DisableTls) return { bootstrapBrokers, sasl }
  return { bootstrapBrokers, sasl, tls: stream.CaCert ? { ca: stream.CaCert } : {} }
}
