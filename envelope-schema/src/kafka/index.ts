export { ClientMissingError, type KafkaAddress, loadClient, reasonOf } from './client.ts'
export { openPublisher, type Place, type Publisher } from './publisher.ts'
export { keyOf, type OutgoingRecord, traceHeaders } from './record.ts'
