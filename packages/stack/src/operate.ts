// The work of operators on Kafka and on a store: topics, rights, backups, regions and databases.

export { backUp } from './backup/backup.ts'
export { copyError } from './backup/errors.ts'
export { type Content as BackupContent, readContent, requireComplete } from './backup/folder.ts'
export { requireStopped } from './backup/groups.ts'
export { makeActive, makePassive } from './backup/region.ts'
export { restoreLog } from './backup/restore.ts'
export {
  aclCommands,
  denyTransactionsCommand,
  readPublishers,
  removePublisher,
  setPublisher,
} from './kafka/access.ts'
export { kafkaConnection } from './kafka/connection.ts'
export { untilAllConsume } from './kafka/readiness.ts'
export { dayMs, forever, keepFor, keptFor } from './kafka/retention.ts'
export { nameProblem, operatorUser, publisherRights, serviceRights } from './kafka/rights.ts'
export { changeTopics } from './kafka/topic-settings.ts'
export {
  addPartitions,
  consumedTopics,
  type TopicSpec,
  topicDifferences,
  topics,
  withAdmin,
} from './kafka/topics.ts'
export { transactionsWarning } from './kafka/transactions.ts'
export { type WatchedEvent, watchEvents } from './kafka/watch.ts'
export { prepareDatabases } from './stores/own-server.ts'
