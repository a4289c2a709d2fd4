/** The log as it is read: records, and what stands on topics of dead letters. Without the client, whose modules take 55 MB. */
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
export { whileHandling } from '../telemetry/handling.ts'
export { maskedText } from '../telemetry/mask.ts'
export { checkResend, isDecidedAnew } from './dead-letters/check.ts'
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
export { type FailedEvent, readEvent } from './dead-letters/event.ts'
export type { ReplayIntent, ReplayJournal } from './dead-letters/interrupted.ts'
export { type Letter, type ResendNote, readRecord } from './dead-letters/letter.ts'
export { followNotes, type ReadUpTo } from './dead-letters/replay-notes.ts'
export { type LogReader, recordAt } from './log-reader.ts'
export { headerOf, type LogRecord, recordsOf } from './log-record.ts'
