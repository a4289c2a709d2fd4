/** Reads Kafka's log. Loads the Kafka client on the first request, because its modules take 55 MB of memory. */

export { createSharedAdmin, openAdmin, withAdmin } from './admin.ts'
export { appendTimes } from './append-times.ts'
export {
  connectionOf,
  isSaslMechanism,
  type KafkaConnection,
  requireConnection,
  type StreamSettings,
} from './connection.ts'
export { isPermanent, LogError, protocolErrors, rootMessage } from './errors.ts'
export { type LogReader, logOn, openLog, recordAt, type Span, type TimeRange } from './log-reader.ts'
export {
  type Follower,
  followLog,
  type Gap,
  LogTail,
  type Read,
  type TailOptions,
  type TailPosition,
} from './log-tail.ts'
export { mergeByTime } from './merge-by-time.ts'
export {
  type Answers,
  type LedPartition,
  latest,
  offsetsAt,
  type Partition,
  type Partitions,
  partitionKey,
  partitionsOf,
  requireReadable,
  type Unreadable,
} from './partitions.ts'
export {
  describeLog,
  type Extent,
  extentsOf,
  type GroupPosition,
  groupPositions,
  type Position,
  positionsOf,
  type Unread,
  type UnreadPart,
  unreadIn,
  unreadParts,
} from './positions.ts'
export {
  headerOf,
  type LogRecord,
  parsePosition,
  positionOfRecord,
  positionText,
  precedes,
  type RecordPosition,
  recordsOf,
  whereIs,
} from './record.ts'
export { isKnownTime, isoTime, recordTime } from './record-time.ts'
export { type Leader, type Metadata, mayBeginTransactions, metadataOf, requestAt, requestOf } from './requests.ts'
export { createSharedConnection, type SharedConnection } from './shared-connection.ts'
