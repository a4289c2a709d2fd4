import { Producer } from '@platformatic/kafka'
import { placeText } from '../../stream/place.ts'
import type { Trust } from '../../trust/trust.ts'
import { type KafkaConnection, kafkaError } from '../kafka-connection.ts'
import type { LogReader } from '../log-reader.ts'
import { openLog } from '../open-log.ts'
import { type Entry, newestAttempt, openAttempt, recordOf } from './entries.ts'
import { type Mended, mend } from './mend.ts'
import { type Client, type Published, publishMended } from './publish.ts'

/**
 * - `resent`: published as the record at `as`; `ready`: would be, were this no dry run;
 * - `refused`: would end as a dead letter again, or has no way back, by `why`;
 * - `done`: was resent before and has not failed since.
 */
export type Outcome = { entry: Entry } & Result
type Result = Published | { result: 'ready' } | { result: 'done'; as: string }

export interface ResendOptions {
  /** What services trust that read the trust file today. */
  trust: Trust
  /** Checks all and publishes nothing. */
  dryRun?: boolean
  /** What to publish in place of the event's own bytes; for a single entry. */
  edited?: Uint8Array | undefined
  /** See `momentOf`. */
  positionIdsBefore?: number | undefined
}

/** One publish after the other would take a few milliseconds each. */
const atOnce = 50

/**
 * Publishes dead letters back to where they came from, after checking that they would not come back: the event's own
 * bytes (or the edited ones, signed anew), key and headers, with the ids that they had, marked with `replayed-from`. A note beside the dead letter says so. The
 * order is publish, then note: who dies in between resends twice, and a duplicate has no effect.
 *
 * An event that failed in two apps is published once; both get it, also the one where it is `refused`.
 * @throws {OperationError} Kafka failed; what was published until then is noted
 */
export async function* resendDeadLetters(
  kafka: KafkaConnection,
  entries: Entry[],
  options: ResendOptions,
): AsyncGenerator<Outcome> {
  const log = openLog(kafka)
  const producer: Client = new Producer({ clientId: 'orderflow-operations', ...kafka })
  const publish = (mended: Mended) =>
    publishMended(producer, mended, log).catch((error: unknown) => {
      throw kafkaError('not all could be resent', kafka, error)
    })
  try {
    yield* resendEntries(log, publish, entries, options)
  } finally {
    await Promise.all([log.close(), producer.close()])
  }
}

/** The same for any log, and any way to publish a record and its note. */
export async function* resendEntries(
  log: LogReader,
  publish: (mended: Mended) => Promise<Published>,
  entries: Entry[],
  { trust, dryRun = false, edited, positionIdsBefore }: ResendOptions,
): AsyncGenerator<Outcome> {
  /** By the record that failed, which two apps may have in common. */
  const settled = new Map<string, Result>()

  /** Answers the first failure, after all have ended: what was published is to be told of first. */
  async function publishAll(all: Mended[]): Promise<PromiseRejectedResult | undefined> {
    const results = await Promise.allSettled(all.map(publish))
    for (const [index, { failed }] of all.entries()) {
      const result = results[index]
      if (result?.status === 'fulfilled') settled.set(failed, result.value)
    }
    return results.find((result) => result.status === 'rejected')
  }

  for (let at = 0; at < entries.length; at += atOnce) {
    const chunk = entries.slice(at, at + atOnce)
    const refused = new Map<Entry, Result>()
    const due = new Map<string, Mended>()
    for (const entry of chunk) {
      const attempt = openAttempt(entry)
      if (!attempt) continue
      const mended = await mend(log, attempt, { edited, trust, first: entry.record, positionIdsBefore })
      if ('why' in mended) refused.set(entry, { result: 'refused', why: mended.why })
      else if (!settled.has(recordOf(attempt))) due.set(recordOf(attempt), mended)
    }
    if (dryRun) for (const of of due.keys()) settled.set(of, { result: 'ready' })
    const failure = dryRun ? undefined : await publishAll([...due.values()])
    for (const entry of chunk) {
      const result = refused.get(entry) ?? resultOf(entry, settled)
      if (result) yield { entry, ...result }
    }
    if (failure) throw failure.reason
  }
}

/** Undefined for what failed to be published. */
function resultOf(entry: Entry, settled: ReadonlyMap<string, Result>): Result | undefined {
  const attempt = openAttempt(entry)
  if (attempt) return settled.get(recordOf(attempt))
  const { resent } = newestAttempt(entry)
  return resent && { result: 'done', as: placeText(resent.as) }
}
