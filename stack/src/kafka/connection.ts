import { connectionOf, isSaslMechanism, type KafkaConnection } from '@orderflow/service-kit/kafka'
import { StackError } from '../lib/error.ts'

/** A broker on this machine that asks nobody who he is. */
export function localKafka(port: number): KafkaConnection {
  return { bootstrapBrokers: [`127.0.0.1:${port}`] }
}

/**
 * The connection that the settings of section `Stream` describe, as the sidecar reads them (components/README.md).
 * @throws {StackError} `usage` naming the variable that is missing or wrong
 */
export function kafkaConnection(env: NodeJS.ProcessEnv): KafkaConnection {
  const connection = connectionOf({ Brokers: env.Stream__Brokers ?? '', ...authentication(env) })
  return connection ?? missing('Stream__Brokers')
}

function authentication(env: NodeJS.ProcessEnv) {
  if (env.Stream__AuthType !== 'password') return { AuthType: 'none' } as const
  const SaslMechanism = env.Stream__SaslMechanism || 'PLAINTEXT'
  if (!isSaslMechanism(SaslMechanism)) {
    throw new StackError('usage', `Stream__SaslMechanism: ${SaslMechanism} is not supported`, {
      nextStep: 'set it to one of those in components/README.md',
    })
  }
  return {
    AuthType: 'password',
    SaslMechanism,
    SaslUsername: env.Stream__SaslUsername || missing('Stream__SaslUsername'),
    SaslPassword: env.Stream__SaslPassword || missing('Stream__SaslPassword'),
    DisableTls: env.Stream__DisableTls === 'true',
    CaCert: env.Stream__CaCert ?? '',
  } as const
}

function missing(name: string): never {
  throw new StackError('usage', `${name} is missing`, { nextStep: `set the variable ${name}` })
}
