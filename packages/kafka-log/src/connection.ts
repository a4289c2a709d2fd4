import { LogError } from './errors.ts'

/** The settings of the connection to Kafka, with Dapr's names and values (components/kafka.yaml). */
export interface StreamSettings {
  /** The addresses of brokers, separated by commas. */
  Brokers: string
  AuthType: 'none' | 'password'
  SaslMechanism: keyof typeof mechanisms
  SaslUsername: string
  SaslPassword: string
  DisableTls: boolean
  /** The CA certificate in PEM; empty for the CAs that the system trusts. */
  CaCert: string
}

export interface KafkaConnection {
  bootstrapBrokers: string[]
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  tls?: { ca?: string }
}

type Needed = Pick<StreamSettings, 'Brokers'> & ({ AuthType: 'none' } | (StreamSettings & { AuthType: 'password' }))

/** Maps Dapr's names of SASL mechanisms (components/kafka.yaml) to the standard names. */
const mechanisms = { PLAINTEXT: 'PLAIN', 'SHA-256': 'SCRAM-SHA-256', 'SHA-512': 'SCRAM-SHA-512' } as const

export function isSaslMechanism(name: string): name is keyof typeof mechanisms {
  return Object.hasOwn(mechanisms, name)
}

/** Returns the connection that the settings describe; undefined if they name no broker. */
export function connectionOf(stream: Needed): KafkaConnection | undefined {
  const bootstrapBrokers = stream.Brokers.split(',').filter(Boolean)
  if (bootstrapBrokers.length === 0) return undefined
  if (stream.AuthType === 'none') return { bootstrapBrokers }
  const { SaslUsername: username, SaslPassword: password } = stream
  const sasl = { mechanism: mechanisms[stream.SaslMechanism], username, password }
  if (stream.DisableTls) return { bootstrapBrokers, sasl }
  return { bootstrapBrokers, sasl, tls: stream.CaCert ? { ca: stream.CaCert } : {} }
}

/** @throws {LogError} if the settings name no broker */
export function requireConnection(stream: StreamSettings): KafkaConnection {
  const connection = connectionOf(stream)
  if (connection) return connection
  throw new LogError('no broker is configured: set Stream__Brokers to host:port')
}
