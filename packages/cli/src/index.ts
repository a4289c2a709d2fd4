export { jaegerUrl } from './lib/jaeger.ts'
// What a stack is: to start one, to reach it, and what the release and the tests share with it.

export type { KafkaConnection } from '@orderflow/service-kit/kafka'
export { ensureEngine } from './containers/engine.ts'
export { ensureImages } from './containers/images.ts'
export { denyTransactions, transactionsWarning } from './kafka/access.ts'
export { type Addresses, addressAt, kafkaConnection, urlOf } from './kafka/connection.ts'
export {
  addPartitions,
  consumedTopics,
  ensureTopics,
  partitionCounts,
  topicDifferences,
  topics,
  withAdmin,
} from './kafka/topics.ts'
export { makeCertificate, newSecret } from './lib/credentials.ts'
export { StackError } from './lib/error.ts'
export { removeUnfinished, replaceFile } from './lib/files.ts'
export { freePort, freePorts, freeServicePorts, isPortFree } from './lib/free-ports.ts'
export {
  baseImage,
  daprdImage,
  kafkaImage,
  mongoImage,
  nodeImage,
  postgresqlImage,
  serviceImage,
} from './lib/images.ts'
export { withLock } from './lib/lock.ts'
export { cacheFolder, localFolder, repository, testFolder } from './lib/paths.ts'
export { eventually, poll, withRetries } from './lib/poll.ts'
export { defaultPorts, type ServicePorts, type StackPorts } from './lib/ports.ts'
export { runTool } from './lib/run-tool.ts'
export {
  doesConsume,
  entryOf,
  ofServices,
  partitions,
  type Service,
  serviceNamed,
  services,
  sidecarOf,
  storedServices,
} from './lib/services.ts'
export { saysYes } from './lib/terminal.ts'
export type { ProcessName, StackTokens } from './processes/plan.ts'
export type { InnerRequest, LocalStack, RunningStack } from './processes/start.ts'
export { startStack } from './processes/start.ts'
export { canAptGet, findTestssl } from './provision/tools.ts'
