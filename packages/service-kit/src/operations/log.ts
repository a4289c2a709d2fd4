/** Entry point for reading records and dead letters. It does not load the Kafka client, whose modules take 55 MB. */
export {
  idSourceOf,
  keyBytes,
  letterHeaders,
  momentOf,
  originOf,
  type Place,
  parsePlace,
  placeText,
  resentFrom,
} from '../stream/record.ts'
export { whileHandling } from '../telemetry/context.ts'
export { contractMask } from '../telemetry/mask.ts'
export {
  type Attempt,
  currentAttempt,
  type DeadLetters,
  type Entry,
  entriesOf,
  newestAttempt,
  openAttempt,
  recordOf,
} from './dead-letters/entries.ts'
export {
  type FailedEvent,
  followNotes,
  type Letter,
  type ReadUpTo,
  type ResendNote,
  readEvent,
  readRecord,
} from './dead-letters/letters.ts'
export type { ReplayIntent, ReplayJournal } from './dead-letters/publish.ts'
export { checkResend, isDecidedAnew } from './dead-letters/replay-record.ts'
export { headerOf, type LogReader, type LogRecord, recordAt, recordsOf } from './log-reader.ts'
