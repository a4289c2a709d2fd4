import { type KafkaConnection, LogError, type LogReader, openLog, positionText } from '@orderflow/kafka-log'
import { Producer } from '@platformatic/kafka'
import { groupsByKey } from '../../stream/consuming/by-key.ts'
import type { Trust } from '../../trust/trust.ts'
import { type Attempt, currentAttempt, type Entry, openAttempt, recordOf } from './entries.ts'
import { type Client, type Published, publishReplay, type ReplayJournal, withIntents } from './publish.ts'
import { followNotes, type ReadUpTo } from './records.ts'
import { makeReplayRecord, type ReplayRecord } from './replay-record.ts'

/**
 * The result of replaying one entry:
 * - `replayed`: published as the record at `as`; `ready`: a dry run found no problem;
 * - `refused`: the event would become a dead letter again, or cannot be published; `why` has the reasons;
 * - `done`: this attempt was replayed before, as the record at `as`.
 */
export type Outcome = { entry: Entry } & Result
type Result = Published | { result: 'ready' } | { result: 'done'; as: string }

export interface ReplayOptions {
  trust: Trust
  /** True to check everything and publish nothing. */
  dryRun?: boolean
  /** The bytes of the edited event. An edit is possible only in a replay of one entry. */
  edited?: Uint8Array | undefined
  /** Maps an entry's id to the record position of the attempt to replay. The default is the newest attempt without a replay. */
  attempts?: ReadonlyMap<string, string> | undefined
  /** The ends of the dead-letter topics when the entries were read. Notes after these offsets are read from the log. */
  readUpTo?: ReadUpTo | undefined
  journal?: ReplayJournal | undefined
}

const atOnce = 50

/**
 * Replays dead letters: publishes them to the topic and partition of their origin, unless they would fail again. A replayed record has the event's
 * bytes, key, headers and ids, and the header `replayed-from`. An edited record has the edited bytes, a new signature, and the key that derives from
 * these bytes. After each record, a note is written to the dead-letter topic.
 *
 * Notes in the log report earlier replays, so new notes are read before records are published. Two processes can still replay the same dead letter at
 * the same moment. The duplicate has no effect.
 *
 * An event that failed in two apps is published once. Both apps receive it, even an app for which the result is `refused`.
 * @throws {LogError} if Kafka failed
 */
export async function* replayDeadLetters(
  kafka: KafkaConnection,
  entries: Entry[],
  options: ReplayOptions,
): AsyncGenerator<Outcome> {
  const log = openLog(kafka)
  const producer: Client = new Producer({ clientId: 'orderflow-operations', ...kafka })
  const publish = (replay: ReplayRecord) =>
    publishReplay(producer, replay, log).catch((cause: unknown) => {
      throw new LogError('some dead letters could not be replayed', { brokers: kafka.bootstrapBrokers, cause })
    })
  try {
    yield* replayEntries(log, publish, entries, options)
  } finally {
    await Promise.all([log.close(), producer.close()])
  }
}

export async function* replayEntries(
  log: LogReader,
  publish: (replay: ReplayRecord) => Promise<Published>,
  entries: Entry[],
  { trust, dryRun = false, edited, attempts, readUpTo, journal }: ReplayOptions,
): AsyncGenerator<Outcome> {
  const notes = followNotes(log, readUpTo)
  /** The result for each failed record. Two entries have the same failed record if the event failed in two apps. */
  const settled = new Map<string, Result>()

  /**
   * Publishes records of one key in sequence, and other records at the same time. Returns the first failure at the end, so the caller can report the
   * published records before it throws the failure. After a failure, the later records of the key are left out.
   */
  async function publishAll(all: ReplayRecord[]): Promise<PromiseRejectedResult | undefined> {
    const groups = groupsByKey(all, ({ origin, key }) => key && `${origin.topic}/${key.toString('latin1')}`)
    const results = await Promise.allSettled(
      groups.map(async (replays) => {
        for (const replay of replays) settled.set(replay.failed, await publish(replay))
      }),
    )
    return results.find((result) => result.status === 'rejected')
  }

  for (let at = 0; at < entries.length; at += atOnce) {
    const chunk = entries.slice(at, at + atOnce)
    const results = new Map<Entry, Result>()
    const prepared = new Map<Entry, { attempt: Attempt; replay: ReplayRecord | { why: string[] } }>()
    for (const entry of chunk) {
      const attempt = attemptToReplay(entry, attempts?.get(entry.id))
      if ('result' in attempt) results.set(entry, attempt)
      else
        prepared.set(entry, {
          attempt,
          replay: await makeReplayRecord(log, attempt, { edited, trust, first: entry.record }),
        })
    }
    // New notes are read as late as possible, because another process may replay the same dead letters.
    await notes.catchUp([...prepared.values()].map(({ attempt }) => attempt.origin.topic))
    const due = new Map<string, ReplayRecord>()
    for (const [entry, { attempt, replay }] of prepared) {
      const failed = recordOf(attempt)
      const note = settled.has(failed) ? undefined : notes.noteOf(attempt)
      if (note) results.set(entry, { result: 'done', as: positionText(note.as) })
      else if ('why' in replay) results.set(entry, { result: 'refused', why: replay.why })
      else if (!settled.has(failed)) due.set(failed, replay)
    }
    if (dryRun) for (const failed of due.keys()) settled.set(failed, { result: 'ready' })
    const records = [...due.values()]
    const failure = dryRun ? undefined : await publishAll(journal ? await withIntents(log, records, journal) : records)
    for (const entry of chunk) {
      const attempt = prepared.get(entry)?.attempt
      // After a failure, an unpublished record has no result.
      const result = results.get(entry) ?? (attempt && settled.get(recordOf(attempt)))
      if (result) yield { entry, ...result }
    }
    if (failure) throw failure.reason
  }
}

function attemptToReplay(entry: Entry, wanted: string | undefined): Attempt | Result {
  const open = openAttempt(entry)
  const attempt =
    wanted === undefined
      ? currentAttempt(entry)
      : entry.attempts.find(({ position }) => positionText(position) === wanted)
  if (!attempt) return { result: 'refused', why: [`this dead letter has no attempt at ${wanted}`] }
  if (attempt.replayed) return { result: 'done', as: positionText(attempt.replayed.as) }
  if (attempt === open) return attempt
  const newest = open ? positionText(open.position) : ''
  return { result: 'refused', why: [`it failed again as ${newest}: replay that attempt instead of ${wanted}`] }
}
