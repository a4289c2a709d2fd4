import { Producer } from '@platformatic/kafka'
import { type KafkaConnection, kafkaError } from '../kafka-connection.ts'
import { type LogReader, openLog } from '../log-reader.ts'
import { type Entry, openAttempt } from './entries.ts'
import { type Mended, mend, publishMended } from './mend.ts'

/**
 * - `resent`: published as the record at `as`; `ready`: would be, were this no dry run;
 * - `refused`: would end as a dead letter again, by `why`;
 * - `done`: was resent before and has not failed since.
 */
export type Outcome = { entry: Entry } & Result
type Result =
  | { result: 'resent'; as: string }
  | { result: 'ready' }
  | { result: 'refused'; why: string[] }
  | { result: 'done'; as: string }

export interface ResendOptions {
  /** Checks all and publishes nothing. */
  dryRun?: boolean
  /** What to publish in place of the event's own bytes; for a single entry. */
  edited?: Uint8Array | undefined
}

/** One publish after the other would take a few milliseconds each. */
const atOnce = 50

/**
 * Publishes dead letters back to where they came from, after checking that they would not come back: the event's own
 * bytes (or the edited ones), key and headers, marked with `replayed-from`. A note beside the dead letter says so. The
 * order is publish, then note: who dies in between resends twice, and a duplicate has no effect.
 *
 * An event that failed in two apps is published once; both get it, also the one where it is `refused`.
 * @throws {OperationError} Kafka failed; what was published until then is noted
 */
export async function* resendDeadLetters(
  kafka: KafkaConnection,
  entries: Entry[],
  options: ResendOptions = {},
): AsyncGenerator<Outcome> {
  const log = openLog(kafka)
  const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'orderflow-operations', ...kafka })
  const publish = (mended: Mended) =>
    publishMended(producer, mended).catch((error: unknown) => {
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
  publish: (mended: Mended) => Promise<Result>,
  entries: Entry[],
  { dryRun = false, edited }: ResendOptions,
): AsyncGenerator<Outcome> {
  /** By the place that failed, which two apps may have in common. */
  const settled = new Map<string, Result>()

  async function publishAll(all: Mended[]): Promise<void> {
    const results = await Promise.allSettled(all.map(publish))
    for (const [index, { of }] of all.entries()) {
      const result = results[index]
      if (result?.status === 'fulfilled') settled.set(of, result.value)
    }
    const failure = results.find((result) => result.status === 'rejected')
    if (failure) throw failure.reason
  }

  for (let at = 0; at < entries.length; at += atOnce) {
    const chunk = entries.slice(at, at + atOnce)
    const refused = new Map<Entry, Result>()
    const due = new Map<string, Mended>()
    for (const entry of chunk) {
      const attempt = openAttempt(entry)
      if (!attempt) continue
      const mended = await mend(log, entry, attempt, edited)
      if ('why' in mended) refused.set(entry, { result: 'refused', why: mended.why })
      else if (!settled.has(attempt.place)) due.set(attempt.place, mended)
    }
    if (dryRun) for (const place of due.keys()) settled.set(place, { result: 'ready' })
    else await publishAll([...due.values()])
    for (const entry of chunk) yield { entry, ...(refused.get(entry) ?? resultOf(entry, settled)) }
  }
}

function resultOf(entry: Entry, settled: Map<string, Result>): Result {
  const attempt = openAttempt(entry)
  const result = attempt && settled.get(attempt.place)
  return result ?? { result: 'done', as: entry.attempts.at(-1)?.resent?.as ?? '' }
}
