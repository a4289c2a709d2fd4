import { pemLine } from '../lib/pem.ts'
import { brokerUser, operatorUser } from './users.ts'

/** Listeners by name. */
export interface BrokerListeners {
  /** For clients: TLS, and a user with a password. Such as `{ HOST: ':9092' }`. */
  clients: Record<string, string>
  /** For the broker itself, and for whoever makes the users: on its own loopback only, since there is no TLS. */
  broker: string
  controller: string
}

export interface BrokerSecrets {
  /** Of the user `broker`. */
  password: string
  /** Base64, as between the lines of a PEM file. */
  certificate: string
  key: string
}

const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule required'
const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'

/**
 * The settings by which a broker asks everybody who he is and denies what nobody has allowed, besides those of `brokerSettings`. Its users
 * are in its own metadata (SCRAM-SHA-512); so who makes the first of them, and the broker as its own client, is a user that stands here.
 */
export function brokerSecurity(
  listeners: BrokerListeners,
  { password, certificate, key }: BrokerSecrets,
): Record<string, string | boolean> {
  const own = `${plain} username="${brokerUser}" password="${password}" user_${brokerUser}="${password}";`
  const clients = Object.keys(listeners.clients)
  const all = { ...listeners.clients, BROKER: listeners.broker, CONTROLLER: listeners.controller }
  const protocols = Object.keys(all).map((name) => `${name}:${clients.includes(name) ? 'SASL_SSL' : 'SASL_PLAINTEXT'}`)
  const asks = (name: string, mechanism: string, jaas: string) => [
    [`listener.name.${name.toLowerCase()}.sasl.enabled.mechanisms`, mechanism],
    [`listener.name.${name.toLowerCase()}.${mechanism.toLowerCase()}.sasl.jaas.config`, jaas],
  ]
  return {
    listeners: Object.entries(all)
      .map(([name, address]) => `${name}://${address}`)
      .join(),
    'listener.security.protocol.map': protocols.join(),
    'inter.broker.listener.name': 'BROKER',
    'controller.listener.names': 'CONTROLLER',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    ...Object.fromEntries([
      ...clients.flatMap((name) => asks(name, 'SCRAM-SHA-512', scram)),
      ...['BROKER', 'CONTROLLER'].flatMap((name) => asks(name, 'PLAIN', own)),
    ]),
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.certificate.chain': pemLine('CERTIFICATE', certificate),
    'ssl.keystore.key': pemLine('PRIVATE KEY', key),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found': false,
    'super.users': `User:${brokerUser};User:${operatorUser}`,
  }
}
