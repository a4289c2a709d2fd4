// Functions to provision, start, call and stop a stack.

export type { KafkaConnection } from '@orderflow/service-kit/kafka'
export { positionsOf } from '@orderflow/service-kit/positions'
export { backUp } from './backup/backup.ts'
export {
  type CopiedRecord,
  type Counts,
  checkTopic,
  copyTopic,
  requirePartitions,
  type TargetLog,
} from './backup/copy.ts'
export { copyError } from './backup/errors.ts'
export { type Content, readContent } from './backup/folder.ts'
export { groupPositions, movePositions, requireStopped } from './backup/groups.ts'
export { makeActive, makePassive } from './backup/region.ts'
export { restoreLog } from './backup/restore.ts'
export { openTarget, withCopyLock, withCopySettings } from './backup/target.ts'
export { commandGroups } from './command-groups.ts'
export { requireStore, supportedRunner } from './commands/runners.ts'
export { runtimeFolders } from './commands/sbom.ts'
export { docker } from './containers/docker.ts'
export { composeMissing, engineMissing, ensureEngine } from './containers/engine.ts'
export { buildServiceImages, ensureImages } from './containers/images.ts'
export { brokerPortVariable, connectionStrings, kafkaPasswords, variableOf } from './containers/project.ts'
export { podOf } from './containers/replicas.ts'
export { generatedFiles } from './generate/files.ts'
export { ensureAccess, readPublishers, removePublisher, setPublisher, userTroubles } from './kafka/access.ts'
export {
  type Brokers,
  brokerHeap,
  brokerMachine,
  brokerNames,
  brokerRules,
  brokerSecurity,
  brokerSettings,
  brokerVariable,
} from './kafka/broker.ts'
export {
  type Addresses,
  addressAt,
  kafkaConnection,
  localKafka,
  securedKafka,
  streamSettings,
  urlOf,
} from './kafka/connection.ts'
export {
  brokersMissing,
  groupMembers,
  groupMissing,
  kafkaMissing,
  type Missing,
  membersMissing,
  serviceMissing,
} from './kafka/readiness.ts'
export { brokerUser, operatorUser, publishUser, stackUsers } from './kafka/rights.ts'
export { changeTopics } from './kafka/topic-settings.ts'
export { addPartitions, consumedTopics, ensureTopics, topicDifferences, topics, withAdmin } from './kafka/topics.ts'
export { denyTransactions, transactionDenial, transactionsWarning } from './kafka/transactions.ts'
export { bodyOf, makeCertificate, newSecret, pemOf } from './lib/credentials.ts'
export { CliError, reportError } from './lib/error.ts'
export { freePort, freePorts, freeServicePorts, isPortFree } from './lib/free-ports.ts'
export { checkClone, git, stage } from './lib/git.ts'
export {
  baseImage,
  daprdImage,
  kafkaImage,
  mongoImage,
  nodeImage,
  postgresqlImage,
  reaperImage,
  serviceImage,
  testImages,
} from './lib/images.ts'
export { jaegerUrl } from './lib/jaeger.ts'
export { isAlive, self, withLock } from './lib/lock.ts'
export {
  cacheFolder,
  daprdFile,
  kafkaJarsFolder,
  localFolder,
  packagesVersion,
  programFile,
  repository,
  testFolder,
  versions,
} from './lib/paths.ts'
export { eventually, poll, withRetries } from './lib/poll.ts'
export {
  type BrokerPorts,
  brokerPorts,
  defaultPorts,
  localPorts,
  loopbacks,
  type ServicePorts,
  type StackPorts,
} from './lib/ports.ts'
export {
  connectionSettings,
  ensureDatabases,
  inDatabase,
  postgresqlUri,
  serviceDatabases,
  sidecarUri,
} from './lib/postgresql.ts'
export { readProcessTable, residentBytes } from './lib/process-table.ts'
export { javaCommand, npmInstall, runTool, withHeartbeat } from './lib/run-tool.ts'
export {
  application,
  doesConsume,
  entryOf,
  membersOf,
  ofServices,
  operateProgram,
  partitions,
  type Service,
  serviceNamed,
  services,
  sidecarOf,
  storedServices,
} from './lib/services.ts'
export { removeStack } from './lib/stack-record.ts'
export { withLogin } from './lib/store-uri.ts'
export { saysYes, timed } from './lib/terminal.ts'
export { streamMetrics } from './observe/stream-metrics.ts'
export { componentSettings } from './processes/component-settings.ts'
export { ensureRunning } from './processes/ensure.ts'
export { prepareKafka } from './processes/kafka.ts'
export { startPrometheus } from './processes/observers.ts'
export {
  createPlan,
  databaseFile,
  dataFolder,
  kafkaOf,
  type LocalStore,
  type Plan,
  type ProcessName,
  processNamesWith,
  type Servers,
  type StackTokens,
  serversOf,
} from './processes/plan.ts'
export {
  ensureLocalDatabases,
  localPostgresql,
  localSidecarUri,
  postgresqlSpec,
  preparePostgresql,
  startPostgresql,
} from './processes/postgresql.ts'
export {
  groupEnds,
  type ProcessSpec,
  processState,
  recordedNames,
  signalGroup,
  startProcess,
  stopProcess,
  stopStack,
} from './processes/process-control.ts'
export { daprdArguments, daprdFlags, processSpecs } from './processes/process-spec.ts'
export {
  buildPages,
  type InnerRequest,
  type LocalStack,
  type RunningStack,
  runningStack,
  startStack,
} from './processes/start.ts'
export { claimFolder, hasDeadOwner, releaseFolder } from './processes/test-owner.ts'
export { waitUntil } from './processes/wait.ts'
export { buildTime, hashOf, type Provisioned, type ProvisionOptions, pythonPackages } from './provision/build.ts'
export {
  copyArtifact,
  gitleaksTool,
  mirrorMakerTool,
  promtool,
  promtoolFile,
  schemathesisTool,
  semgrepTool,
} from './provision/programs.ts'
export { ensureTlc, provision, provisionTools } from './provision/provision.ts'
export { aptGetInstall, canAptGet, findTestssl, go, java, maven, npm } from './provision/tools.ts'
