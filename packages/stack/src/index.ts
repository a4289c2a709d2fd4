// Runs, finds and calls stacks: that of `make up`, and those of tests.

export type { KafkaConnection } from '@orderflow/kafka-log'
export { type ApiKeys, readApiKeys } from './api-keys.ts'
export { freePorts } from './application/free-ports.ts'
export {
  application,
  brokerPorts,
  defaultPorts,
  doesConsume,
  entryOf,
  ofServices,
  operateProgram,
  outsideTopics,
  type Service,
  type StackPorts,
  serviceNamed,
  services,
  sidecarOf,
  storedServices,
  topicFor,
} from './application/services.ts'
export { brokerPortVariable, kafkaPasswords, variableOf } from './containers/project.ts'
export { podOf } from './containers/replicas.ts'
export { dev as startDev } from './dev/dev.ts'
export { type Brokers, brokerNames } from './kafka/broker.ts'
export { type Addresses, addressAt, securedKafka, shownUrlOf, urlOf, watchUrl } from './kafka/connection.ts'
export { groupMembers, groupMissing, kafkaMissing } from './kafka/readiness.ts'
export { isInside } from './kubernetes/inside.ts'
export { databaseFile, type LocalStore, serversOf } from './processes/plan.ts'
export type { LocalStack, RunningStack } from './processes/running-stack.ts'
export { localPostgresql } from './processes/servers/postgresql.ts'
export { startStack } from './processes/up.ts'
export type { InsideOptions } from './runner.ts'
export {
  activeRunner,
  cleanAll,
  clusterRunner,
  currentRunner,
  requireKafka,
  requireRunning,
  runningRunner,
  stopAll,
} from './runners.ts'
export { requireStore, startChosen, supportedRunner } from './start.ts'
export { inDatabase, postgresqlUri, sidecarUri } from './stores/databases.ts'
export { withLogin } from './stores/uri.ts'
export { troublesOf } from './troubles.ts'
