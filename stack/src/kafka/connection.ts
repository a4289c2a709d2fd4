import { StackError } from '../lib/error.ts'

/** How a plain Kafka client reaches the broker: options that every client of @platformatic/kafka takes. */
export interface KafkaConnection {
  bootstrapBrokers: string[]
  sasl?: { mechanism: 'PLAIN' | 'SCRAM-SHA-256' | 'SCRAM-SHA-512'; username: string; password: string }
  tls?: { ca?: string }
}

/** A broker on this machine that asks nobody who he is. */
export function localKafka(port: number): KafkaConnection {
  return { bootstrapBrokers: [`127.0.0.1:${port}`] }
}

/** Dapr's names of the mechanisms (components/kafka.yaml), and everybody else's. */
const mechanisms = { PLAINTEXT: 'PLAIN', 'SHA-256': 'SCRAM-SHA-256', 'SHA-512': 'SCRAM-SHA-512' } as const

/**
 * The connection that the settings of section `Stream` describe, as the sidecar reads them (components/README.md).
 * @throws {StackError} `usage` naming the variable that is missing or wrong
 */
export function kafkaConnection(env: NodeJS.ProcessEnv): KafkaConnection {
  const bootstrapBrokers = required(env, 'Stream__Brokers').split(',')
  if (env.Stream__AuthType !== 'password') return { bootstrapBrokers }
  const name = env.Stream__SaslMechanism || 'PLAINTEXT'
  const mechanism = mechanisms[name as keyof typeof mechanisms]
  if (!mechanism) {
    throw new StackError('usage', `Stream__SaslMechanism: ${name} is not supported`, {
      nextStep: `set it to one of ${Object.keys(mechanisms).join(', ')}`,
    })
  }
  const sasl = {
    mechanism,
    username: required(env, 'Stream__SaslUsername'),
    password: required(env, 'Stream__SaslPassword'),
  }
  if (env.Stream__DisableTls === 'true') return { bootstrapBrokers, sasl }
  return { bootstrapBrokers, sasl, tls: env.Stream__CaCert ? { ca: env.Stream__CaCert } : {} }
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name]
  if (value) return value
  throw new StackError('usage', `${name} is missing`, { nextStep: `set the variable ${name}` })
}
