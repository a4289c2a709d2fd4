/** Exports functions that read records and dead letters. They do not load the Kafka client, whose modules take 55 MB of memory. */

export {
  type Acceptance,
  type DeadLetter,
  type DeadLetterRecord,
  type ReplayNote,
  readRecord,
} from '../stream/dead-letters/dead-letter-record.ts'
export {
  deadLetterHeaders,
  keyBytes,
  originOf,
  replayedFrom,
} from '../stream/log/record.ts'
export { mayShowKey } from '../stream/log/record-key.ts'
export { whileHandling } from '../telemetry/context.ts'
export { contractMask } from '../telemetry/mask.ts'
export { dryRunsIn, effectsIn, keptContent, keptRecord, type RejectedAttempt } from './dead-letters/effects.ts'
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
export type { ReplayIntent, ReplayJournal } from './dead-letters/publish.ts'
export { type FailedEvent, followNotes, type ReadUpTo, readEvent } from './dead-letters/records.ts'
export { checkReplay, isReplayable, replayedContent } from './dead-letters/replay-record.ts'
