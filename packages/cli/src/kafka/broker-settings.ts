/**
 * What every broker of ours has, however it runs: as a process (processes/kafka.ts), in docker-compose.yml (make generate writes
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

/** A broker that authenticates nobody and still applies rules: what no rule denies is allowed (kafka/transactions.ts has the one rule). */
export const brokerRules = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': true,
} as const

/** The heap is Kafka's need at this size, measured; its own default is 1 GB. */
export const brokerHeap = '-Xmx512m'

/** A broker for one machine: what the second compiler and a parallel collector take in its first minutes, the rest has not. */
export const brokerMachine = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Djava.awt.headless=true']

/** How Kafka's image takes a setting: as a variable, in which three underscores are a dash. */
export function brokerVariable(setting: string): string {
  return `KAFKA_${setting.toUpperCase().replaceAll('-', '___').replaceAll('.', '_')}`
}
