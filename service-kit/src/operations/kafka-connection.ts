import type { StreamSettings } from '../runtime/settings.ts'
import { OperationError } from './operation-error.ts'

/** How a plain Kafka client reaches the broker: options that every client of @platformatic/kafka takes. */
export interface KafkaConnection {
  bootstrapBrokers: string[]
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  tls?: { ca?: string }
}

/** Dapr's names of the mechanisms (components/kafka.yaml), and everybody else's. */
const mechanisms = { PLAINTEXT: 'PLAIN', 'SHA-256': 'SCRAM-SHA-256', 'SHA-512': 'SCRAM-SHA-512' } as const

/** @throws {OperationError} when no broker is named */
export function kafkaConnection(stream: StreamSettings): KafkaConnection {
  const bootstrapBrokers = stream.Brokers.split(',').filter(Boolean)
  if (bootstrapBrokers.length === 0) {
    throw new OperationError('no Kafka is named', { nextStep: 'set the variable Stream__Brokers to host:port' })
  }
  if (stream.AuthType === 'none') return { bootstrapBrokers }
  const { SaslUsername: username, SaslPassword: password } = stream
  const sasl = { mechanism: mechanisms[stream.SaslMechanism], username, password }
  if (stream.DisableTls) return { bootstrapBrokers, sasl }
  return { bootstrapBrokers, sasl, tls: stream.CaCert ? { ca: stream.CaCert } : {} }
}

/** An error of the Kafka client as the operator's: what could not be done, at which broker, and why. */
export function kafkaError(what: string, { bootstrapBrokers }: KafkaConnection, cause: unknown): OperationError {
  const message = `${what} at ${bootstrapBrokers.join(',')}: ${rootMessage(cause)}`
  return new OperationError(message, { nextStep: 'is Kafka running (make up), and Stream__Brokers right?', cause })
}

/** The client wraps what happened in "failed 3 times" and the like. */
function rootMessage(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return rootMessage(error.errors[0])
  if (error instanceof Error) return error.cause instanceof Error ? rootMessage(error.cause) : error.message
  return String(error)
}
