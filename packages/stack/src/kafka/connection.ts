import { connectionOf, isSaslMechanism, type KafkaConnection } from '@orderflow/kafka-log'
import { entryOf, services } from '../application/services.ts'
import { CliError } from '../base/error.ts'

interface ServiceAddress {
  url: string
  /** Empty in Kubernetes, where services have no certificates. */
  httpsUrl: string
  /** The address for messages, if people reach the service at another address than this program. */
  shown?: string | undefined
}

export interface Addresses {
  services: Record<string, ServiceAddress>
  kafka: KafkaConnection
}

/** Returns the address of a service, without a trailing slash. */
export function urlOf({ services }: Pick<Addresses, 'services'>, service: string): string {
  return entryOf(services, service).url
}

/** Returns the address of a service for messages. */
export function shownUrlOf({ services }: Pick<Addresses, 'services'>, service: string): string {
  const { url, shown } = entryOf(services, service)
  return shown ?? url
}

/** Returns the address of the monitor for messages. */
export function watchUrl(addresses: Pick<Addresses, 'services'>): string {
  const { name = '' } = services.find(({ watches }) => watches) ?? {}
  return shownUrlOf(addresses, name)
}

export function addressAt(host: string, { http, https }: { http: number; https: number }): ServiceAddress {
  return { url: `http://${host}:${http}`, httpsUrl: `https://${host}:${https}` }
}

export function localKafka(port: number): KafkaConnection {
  return { bootstrapBrokers: [`127.0.0.1:${port}`] }
}

interface KafkaUser {
  username: string
  password: string
}

/**
 * @param addresses the addresses of brokers, separated by commas
 * @param certificate the brokers' certificate as PEM
 */
export function securedKafka(addresses: string, user: KafkaUser, certificate: string): KafkaConnection {
  return {
    bootstrapBrokers: addresses.split(','),
    sasl: { mechanism: 'SCRAM-SHA-512', ...user },
    tls: { ca: certificate },
  }
}

/** Returns the settings from which `kafkaConnection` creates this connection. */
export function streamSettings({ bootstrapBrokers, sasl, tls }: KafkaConnection): Record<string, string> {
  return {
    Stream__Brokers: bootstrapBrokers.join(),
    Stream__AuthType: 'password',
    Stream__SaslMechanism: 'SHA-512',
    Stream__SaslUsername: sasl?.username ?? '',
    Stream__SaslPassword: sasl?.password ?? '',
    Stream__DisableTls: 'false',
    Stream__CaCert: tls?.ca ?? '',
  }
}

/** Reads the settings of section `Stream`. */
export function kafkaConnection(env: NodeJS.ProcessEnv): KafkaConnection {
  const connection = connectionOf({ Brokers: env.Stream__Brokers ?? '', ...authentication(env) })
  return connection ?? missing('Stream__Brokers')
}

function authentication(env: NodeJS.ProcessEnv) {
  const { Stream__AuthType: AuthType = 'none' } = env
  if (AuthType === 'none' || AuthType === '') return { AuthType: 'none' } as const
  if (AuthType !== 'password') {
    throw new CliError('usage', `Stream__AuthType: ${AuthType} is not supported`, {
      nextStep: 'set it to none or password',
    })
  }
  const SaslMechanism = env.Stream__SaslMechanism || 'PLAINTEXT'
  if (!isSaslMechanism(SaslMechanism)) {
    throw new CliError('usage', `Stream__SaslMechanism: ${SaslMechanism} is not supported`, {
      nextStep: 'set it to PLAINTEXT, SHA-256 or SHA-512',
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
  throw new CliError('usage', `${name} is missing`, { nextStep: `set the environment variable ${name}` })
}
