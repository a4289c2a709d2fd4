// For tests and tools of this repository only: parts of a stack, which may change with every version. The published package has no such entry point.

export { freePort, freeServicePorts, isPortFree } from '../src/application/free-ports.ts'
export { everyStackImage, serviceImage, testImages } from '../src/application/images.ts'
export { jaegerUrl } from '../src/application/jaeger.ts'
export { daprdFile, kafkaJarsFolder, packagesVersion, templateFile } from '../src/application/paths.ts'
export {
  type BrokerPorts,
  localPorts,
  loopbacks,
  membersOf,
  partitions,
  type ServicePorts,
} from '../src/application/services.ts'
export { removeStack } from '../src/application/stack-record.ts'
export { backUp } from '../src/backup/backup.ts'
export { type Content as BackupContent, readContent } from '../src/backup/folder.ts'
export { movePositions } from '../src/backup/groups.ts'
export { makeActive, makePassive } from '../src/backup/region.ts'
export { restoreLog } from '../src/backup/restore.ts'
export { withCopyLock } from '../src/backup/target.ts'
export { bodyOf, makeCertificate } from '../src/base/credentials.ts'
export { isAlive, self, withLock } from '../src/base/lock.ts'
export { readProcessTable, residentBytes } from '../src/base/process-table.ts'
export { javaCommand, withHeartbeat } from '../src/base/run-tool.ts'
export { buildServiceImages } from '../src/containers/images.ts'
export { connectionStrings } from '../src/containers/project.ts'
export { generatedFiles } from '../src/generate/files.ts'
export { ensureAccess, userTroubles } from '../src/kafka/access.ts'
export {
  brokerHeap,
  brokerMachine,
  brokerSecurity,
  brokerSettings,
  brokerVariable,
} from '../src/kafka/broker.ts'
export { localKafka, streamSettings } from '../src/kafka/connection.ts'
export { brokersMissing, membersMissing, serviceMissing } from '../src/kafka/readiness.ts'
export { brokerUser, publishUser, stackUsers } from '../src/kafka/rights.ts'
export { addPartitions, ensureTopics, topicDifferences } from '../src/kafka/topics.ts'
export { denyTransactions, transactionDenial, transactionsWarning } from '../src/kafka/transactions.ts'
export { streamMetrics } from '../src/observe/stream-metrics.ts'
export { ensureRunning } from '../src/processes/ensure.ts'
export {
  createPlan,
  dataFolder,
  kafkaOf,
  type Plan,
  type ProcessName,
  processNamesWith,
  type Servers,
} from '../src/processes/plan.ts'
export { componentSettings } from '../src/processes/process/components.ts'
export {
  groupEnds,
  type ProcessSpec,
  processState,
  recordedNames,
  signalGroup,
  startProcess,
  stopProcess,
  stopStack,
} from '../src/processes/process/control.ts'
export { daprdArguments, daprdFlags, processSpecs } from '../src/processes/process/spec.ts'
export { waitUntil } from '../src/processes/process/wait.ts'
export { runningStack } from '../src/processes/running-stack.ts'
export { prepareKafka } from '../src/processes/servers/kafka.ts'
export { startPrometheus } from '../src/processes/servers/observers.ts'
export {
  ensureLocalDatabases,
  localSidecarUri,
  postgresqlSpec,
  preparePostgresql,
} from '../src/processes/servers/postgresql.ts'
export { claimFolder, hasDeadOwner, releaseFolder } from '../src/processes/test-owner.ts'
export {
  buildTime,
  checkHash,
  goTool,
  hashes,
  hashesFile,
  hashOf,
  type Provisioned,
  type ProvisionOptions,
} from '../src/provision/build.ts'
export { composeMissing, engineMissing } from '../src/provision/engine.ts'
export {
  copyJars,
  daprdModule,
  jaegerModule,
  pnpmPackage,
  prometheusModule,
  prometheusProgram,
} from '../src/provision/programs.ts'
export { provisionTools, requireTools } from '../src/provision/provision.ts'
export { aptGetInstall, canAptGet, go, java, maven, npm, pip } from '../src/provision/tools.ts'
export { ensureDatabases, serviceDatabases } from '../src/stores/databases.ts'
export { startPostgresql } from './processes/servers/start-postgresql.ts'
