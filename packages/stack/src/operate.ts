// The work of operators on Kafka and on a store: topics, rights, backups, regions and databases.

export { grantingCommands, readPublishers, removePublisher, setPublisher } from './kafka/access.ts'
export { dayMs, forever } from './kafka/retention.ts'
export { nameProblem, operatorUser } from './kafka/rights.ts'
export { consumedTopics, topics } from './kafka/topics.ts'
export { type WatchedEvent, watchEvents } from './kafka/watch.ts'
export { operateDeadLetters } from './operations/dead-letters.ts'
export { topicNames } from './operations/named-kafka.ts'
export { addMissingPartitions, changeRegion, changeTopic, retention } from './operations/named-topics.ts'
export { backUpLog, restore } from './operations/restore-stack.ts'
export { prepareDatabases } from './stores/databases.ts'
