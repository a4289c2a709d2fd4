export { ClientMissingError, type KafkaAddress, reasonOf } from './address.ts'
export { openPublisher, type PublishedPosition, type Publisher } from './publisher.ts'
export { isFromOutside, keyFields, keyOf, type OutgoingRecord, topicOfEvent, traceHeaders } from './record.ts'
