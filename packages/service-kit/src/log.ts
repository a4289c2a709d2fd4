/**
 * Exports what programs need that read records and dead letters, check who signed them, and know the settings of topics. It does not load the Kafka
 * client, whose modules take 55 MB of memory.
 */

export {
  dryRunsIn,
  effectsIn,
  keptContent,
  keptRecord,
  type RejectedAttempt,
} from './operations/dead-letters/effects.ts'
export {
  type Attempt,
  currentAttempt,
  type DeadLetters,
  type Entry,
  entriesOf,
  newestAttempt,
  openAttempt,
  recordOf,
} from './operations/dead-letters/entries.ts'
export type { ReplayIntent, ReplayJournal } from './operations/dead-letters/publish.ts'
export { type FailedEvent, followNotes, type ReadUpTo, readEvent } from './operations/dead-letters/records.ts'
export { checkReplay, isReplayable, replayedContent } from './operations/dead-letters/replay-record.ts'
export {
  type Acceptance,
  type DeadLetter,
  type DeadLetterRecord,
  type ReplayNote,
  readRecord,
} from './stream/dead-letters/dead-letter-record.ts'
export { lastDeadlines } from './stream/log/log-clock.ts'
export {
  deadLetterHeaders,
  keyBytes,
  originOf,
  replayedFrom,
} from './stream/log/record.ts'
export { mayShowKey } from './stream/log/record-key.ts'
export {
  clockSettings,
  clockTopic,
  deadLetterSettings,
  eventSettings,
  missingTopic,
  retentionOf,
  settingDifferences,
  settingsOf,
  type TopicSettings,
  topicResource,
} from './stream/publishing/topic-settings.ts'
export { whileHandling } from './telemetry/context.ts'
export { contractMask } from './telemetry/mask.ts'
export { type Listing, readListing, readTrust, type TrustSettings } from './trust/read-trust.ts'
export { createSigner, type Evidence, signatureHeader, signatureIn, type Trust, UntrustedError } from './trust/trust.ts'
