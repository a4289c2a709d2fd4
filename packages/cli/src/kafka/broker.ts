import { pemLine } from '../lib/credentials.ts'
import { brokerUser, operatorUser } from './rights.ts'

/**
 * Settings of every broker, however it runs: as a process (processes/kafka.ts), in docker-compose.yml (make generate writes
 * it there) and, where a hosted broker would not differ, in a rehearsal of a release.
 */
export const brokerSettings = {
  // Topics are created with their partitions and limits by the stack, never by a misspelt name.
  'auto.create.topics.enable': false,
  'log.retention.ms': -1,
  // A killed sidecar's partitions move after components/kafka.yaml's sessionTimeout, and the first member does not wait.
  'group.min.session.timeout.ms': 2000,
  'group.initial.rebalance.delay.ms': 0,
  // A broker that was killed cannot register again before its last session ends; the default is 9 s.
  'broker.session.timeout.ms': 1500,
  'broker.heartbeat.interval.ms': 300,
  // One broker: nothing to replicate to, and fifty partitions of offsets only slow the start.
  'offsets.topic.replication.factor': 1,
  'offsets.topic.num.partitions': 1,
  'transaction.state.log.replication.factor': 1,
  'transaction.state.log.min.isr': 1,
  'transaction.state.log.num.partitions': 1,
} as const

/**
 * A broker that authenticates nobody and still applies rules: what no rule denies is allowed (kafka/access.ts has the
 * one rule).
 */
export const brokerRules = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': true,
} as const

/** The heap is Kafka's need at this size, measured; its own default is 1 GB. */
export const brokerHeap = '-Xmx512m'

/**
 * A broker for one machine: what the second compiler and a parallel collector take in its first minutes, the rest has
 * not.
 */
export const brokerMachine = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Djava.awt.headless=true']

/** Returns the variable by which Kafka's image takes a setting. Three underscores stand for a dash. */
export function brokerVariable(setting: string): string {
  return `KAFKA_${setting.toUpperCase().replaceAll('-', '___').replaceAll('.', '_')}`
}

/** Listeners by name. */
interface BrokerListeners {
  /** Listeners for clients, with TLS and a user with a password, such as `{ HOST: ':9092' }`. */
  clients: Record<string, string>
  /** The listener for the broker itself and for setup, on its own loopback only, since it has no TLS. */
  broker: string
  controller: string
}

interface BrokerSecrets {
  /** The password of the user `broker`. */
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
