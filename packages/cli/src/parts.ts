// The parts a stack is made of, for those who run some of them beside programs of their own (test/, tools/bench/, tools/chaos/, release/).

export { generatedFiles } from './generate/files.ts'
export {
  ensureAccess,
  readPublishers,
  removePublisher,
  setPublisher,
  transactionDenial,
} from './kafka/access.ts'
export { brokerRules, brokerSecurity, brokerVariable } from './kafka/broker.ts'
export { localKafka, securedKafka, streamSettings } from './kafka/connection.ts'
export { positionsOf } from './kafka/positions.ts'
export {
  groupMembers,
  groupMissing,
  kafkaMissing,
  type Missing,
  membersMissing,
  serviceMissing,
} from './kafka/readiness.ts'
export { brokerUser, operatorUser, publishUser, stackUsers } from './kafka/rights.ts'
export { bodyOf, pemOf } from './lib/credentials.ts'
export { daprdFile, versions } from './lib/paths.ts'
export { localPorts, loopbacks } from './lib/ports.ts'
export { ensureDatabases, inDatabase, postgresqlUri, serviceDatabases } from './lib/postgresql.ts'
export { readProcessTable, residentBytes } from './lib/process-table.ts'
export { javaCommand } from './lib/run-tool.ts'
export { application, membersOf } from './lib/services.ts'
export { timed } from './lib/terminal.ts'
export { streamMetrics } from './observe/stream-metrics.ts'
export { ensureRunning } from './processes/ensure.ts'
export { prepareKafka } from './processes/kafka.ts'
export { startPrometheus } from './processes/observers.ts'
export {
  createPlan,
  databaseFile,
  dataFolder,
  type LocalStore,
  type Plan,
  processNames,
  processNamesWith,
  storeOf,
} from './processes/plan.ts'
export {
  localPostgresql,
  type PostgresqlServer,
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
export { componentSettings, daprdArguments, daprdFlags, processSpecs } from './processes/process-spec.ts'
export { buildPages, runningStack } from './processes/start.ts'
export { claimFolder, hasDeadOwner, releaseFolder } from './processes/test-owner.ts'
export { waitUntil } from './processes/wait.ts'
export type { Provisioned, ProvisionOptions } from './provision/build.ts'
export { pythonPackages } from './provision/build.ts'
export { gitleaksTool, promtool, promtoolFile, schemathesisTool, semgrepTool } from './provision/programs.ts'
export { ensureTlc, provision, provisionTools } from './provision/provision.ts'
export { go, java, maven, npm } from './provision/tools.ts'
