import { connectionOf, type KafkaConnection, type StreamSettings } from '../stream/kafka.ts'
import { OperationError } from './operation-error.ts'

export type { KafkaConnection }

/** As for everybody else. @throws {OperationError} when no broker is named */
export function kafkaConnection(stream: StreamSettings): KafkaConnection {
  const connection = connectionOf(stream)
  if (connection) return connection
  throw new OperationError('no Kafka is named', { nextStep: 'set the variable Stream__Brokers to host:port' })
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
