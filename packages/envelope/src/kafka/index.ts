export { ClientMissingError, type KafkaAddress, reasonOf } from './address.ts'
export { openPublisher, type PublishedPosition, type Publisher } from './publisher.ts'
export { keyFields, keyOf, type OutgoingRecord, traceHeaders } from './record.ts'
