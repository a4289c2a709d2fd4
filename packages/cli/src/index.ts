export { jaegerUrl } from './lib/jaeger.ts'
// What a stack is: to start one, to reach it, and what the release and the tests share with it.

export type { KafkaConnection } from '@orderflow/service-kit/kafka'
export { ensureEngine } from './containers/engine.ts'
export { ensureImages } from './containers/images.ts'
export { type Addresses, addressAt, urlOf } from './kafka/addresses.ts'
export { kafkaConnection } from './kafka/connection.ts'
export {
  addPartitions,
  consumedTopics,
  ensureTopics,
  partitionCounts,
  topicDifferences,
  topics,
  withAdmin,
} from './kafka/topics.ts'
export { denyTransactions, transactionsWarning } from './kafka/transactions.ts'
export { makeCertificate } from './lib/certificate.ts'
export { StackError } from './lib/error.ts'
export {
  baseImage,
  daprdImage,
  kafkaImage,
  mongoImage,
  nodeImage,
  postgresqlImage,
  serviceImage,
} from './lib/image-names.ts'
export { cacheFolder, localFolder, repository, testFolder } from './lib/paths.ts'
export { withLock } from './lib/pid-lock.ts'
export { eventually, poll, withRetries } from './lib/poll.ts'
export { defaultPorts, type ServicePorts, type StackPorts } from './lib/ports.ts'
export { removeUnfinished, replaceFile } from './lib/replace-file.ts'
export { runTool } from './lib/run-tool.ts'
export { saysYes } from './lib/says-yes.ts'
export { newSecret } from './lib/secret.ts'
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
export { freePort, freePorts, freeServicePorts, isPortFree } from './processes/free-ports.ts'
export type { ProcessName } from './processes/plan.ts'
export type { InnerRequest, LocalStack, RunningStack } from './processes/running-stack.ts'
export type { StackTokens } from './processes/secrets.ts'
export { startStack } from './processes/start.ts'
export { canAptGet } from './provision/apt.ts'
export { findTestssl } from './provision/testssl.ts'
