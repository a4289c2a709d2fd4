import { pemLine } from '../base/credentials.ts'
import { brokerUser, operatorUser } from './rights.ts'

/** The number of brokers. With three, the stack loses nothing if one broker and its disk are lost. */
export type Brokers = 1 | 3

export const brokerNames = ({ brokers }: { brokers: Brokers }): readonly string[] =>
  ['kafka', 'kafka-2', 'kafka-3'].slice(0, brokers)

/** The settings of every broker: of the process, the container, and the broker in tests of releases. */
export const brokerSettings = {
  // Brokers create no topics, because the stack creates them with partitions and limits.
  'auto.create.topics.enable': false,
  'log.retention.ms': -1,
  // Allows the short sessionTimeout of components/kafka.yaml. After this time, other members get the partitions of a killed sidecar.
  'group.min.session.timeout.ms': 2000,
  'group.initial.rebalance.delay.ms': 0,
  // A killed broker can register again only after its last session has timed out. The default is 9 s.
  'broker.session.timeout.ms': 1500,
  'broker.heartbeat.interval.ms': 300,
  // A single broker cannot replicate internal topics. With the default of 50 partitions for each of them, it would start slowly.
  'offsets.topic.replication.factor': 1,
  'offsets.topic.num.partitions': 1,
  'transaction.state.log.replication.factor': 1,
  'transaction.state.log.min.isr': 1,
  'transaction.state.log.num.partitions': 1,
} as const

/**
 * The settings of three brokers. A record is acknowledged when two brokers have it. While one broker is away, the other two still accept records.
 */
export const replicationSettings = {
  'default.replication.factor': 3,
  'min.insync.replicas': 2,
  'offsets.topic.replication.factor': 3,
  'transaction.state.log.replication.factor': 3,
  'transaction.state.log.min.isr': 2,
  // A controller that lost its disk joins the quorum again automatically (KIP-853).
  'controller.quorum.auto.join.enable': true,
} as const

/**
 * The settings for access rules. With them, a broker without authentication allows everything except transactions, which a rule in kafka/access.ts
 * denies.
 */
export const brokerRules = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': true,
} as const

/** The broker's heap, measured to be large enough. Kafka's default is 1 GB. */
export const brokerHeap = '-Xmx512m'

/** Options that switch off Java's second compiler and parallel garbage collector. Both would slow the other processes in the first minutes. */
export const brokerMachine = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Djava.awt.headless=true']

/** Returns the environment variable that contains a setting for Kafka's image. Three underscores replace a dash. */
export function brokerVariable(setting: string): string {
  return `KAFKA_${setting.toUpperCase().replaceAll('-', '___').replaceAll('.', '_')}`
}

interface BrokerListeners {
  /** Listeners for clients, with TLS and passwords, such as `{ HOST: ':9092' }`. */
  clients: Record<string, string>
  /** The listener for brokers and setup. The listener of a single broker is on loopback and uses no TLS. */
  broker: string
  controller: string
}

interface BrokerSecrets {
  password: string
  /** The PEM body: base64 without line breaks. */
  certificate: string
  key: string
}

const plain = 'org.apache.kafka.common.security.plain.PlainLoginModule required'
const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'

/** Returns the settings of a listener that asks for a password. */
const asks = (listener: string, mechanism: string, jaas: string): [setting: string, value: string][] => [
  [`listener.name.${listener.toLowerCase()}.sasl.enabled.mechanisms`, mechanism],
  [`listener.name.${listener.toLowerCase()}.${mechanism.toLowerCase()}.sasl.jaas.config`, jaas],
]

const asBroker = (password: string) =>
  `${plain} username="${brokerUser}" password="${password}" user_${brokerUser}="${password}";`

/**
 * Returns the settings with which three controllers log in as the user `broker`. Before a controller has loaded the rules, it accepts requests only
 * from super users.
 */
export const controllerSecurity = (password: string): Record<string, string> => ({
  'sasl.mechanism.controller.protocol': 'PLAIN',
  ...Object.fromEntries(asks('CONTROLLER', 'PLAIN', asBroker(password))),
  'super.users': `User:${brokerUser}`,
})

/**
 * Returns the settings of a broker with authentication. This broker denies every access that no rule allows. The user `broker` creates the first
 * users.
 */
export function brokerSecurity(
  listeners: BrokerListeners,
  { password, certificate, key }: BrokerSecrets,
): Record<string, string | boolean> {
  const clients = Object.keys(listeners.clients)
  const all = { ...listeners.clients, BROKER: listeners.broker, CONTROLLER: listeners.controller }
  const protocols = Object.keys(all).map((name) => `${name}:${clients.includes(name) ? 'SASL_SSL' : 'SASL_PLAINTEXT'}`)
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
      ...['BROKER', 'CONTROLLER'].flatMap((name) => asks(name, 'PLAIN', asBroker(password))),
    ]),
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.certificate.chain': pemLine('CERTIFICATE', certificate),
    'ssl.keystore.key': pemLine('PRIVATE KEY', key),
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found': false,
    'super.users': `User:${brokerUser};User:${operatorUser}`,
  }
}

/** Returns the settings of brokers with authentication that reach each other over the network. All listeners use TLS, and brokers trust the certificate. */
export function clusterSecurity(listeners: BrokerListeners, secrets: BrokerSecrets): Record<string, string | boolean> {
  const names = [...Object.keys(listeners.clients), 'BROKER', 'CONTROLLER']
  return {
    ...brokerSecurity(listeners, secrets),
    'listener.security.protocol.map': names.map((name) => `${name}:SASL_SSL`).join(),
    'ssl.truststore.type': 'PEM',
    'ssl.truststore.certificates': pemLine('CERTIFICATE', secrets.certificate),
  }
}
