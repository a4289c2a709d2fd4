import type { LogReader, Span } from '../log-reader.ts'
import { type LogRecord, whereIs } from '../log-record.ts'
import type { Mended } from './mend.ts'

/** A replay that was about to be published. */
export interface ReplayIntent {
  /** Position of the record that failed, as text. */
  of: string
  /** The end of the origin's partition before the replay: its record has this offset or a later one. */
  from: bigint
}

/**
 * Remembers replays from before they are published until they are noted, also when the process is killed. The process that was
 * killed may have published a record without its note.
 */
export interface ReplayJournal {
  /** Keeps intents before anything is published. An earlier intent for the same record stays as it is. */
  begin(intents: ReplayIntent[]): void
  begun(of: string): ReplayIntent | undefined
}

/** Writes down what is about to be published, and finds those records that an interrupted replay has published already. */
export async function withIntents(log: LogReader, due: Mended[], journal: ReplayJournal): Promise<Mended[]> {
  const interrupted = new Map(due.flatMap((mended) => [[mended, journal.begun(mended.of)]] as const))
  const intents: ReplayIntent[] = []
  const found = new Map<Mended, string>()
  for (const [topic, own] of Map.groupBy(due, ({ origin }) => origin.topic)) {
    const spans = await log.spans(topic)
    const endOf = (partition: number) => spans.find((span) => span.partition === partition)?.end ?? 0n
    for (const { of, origin } of own) intents.push({ of, from: endOf(origin.partition) })
    for (const span of spans) {
      const sought = own.flatMap((mended) => {
        const intent = interrupted.get(mended)
        return intent && mended.origin.partition === span.partition ? [{ mended, from: intent.from }] : []
      })
      for (const [mended, position] of await recordsOf(log, topic, span, sought)) found.set(mended, position)
    }
  }
  journal.begin(intents)
  return due.map((mended) => {
    const publishedAs = found.get(mended)
    return publishedAs === undefined ? mended : { ...mended, publishedAs }
  })
}

/** The positions of those replays whose record the partition has. */
async function recordsOf(
  log: LogReader,
  topic: string,
  { partition, start, end }: Span,
  sought: { mended: Mended; from: bigint }[],
): Promise<Map<Mended, string>> {
  const found = new Map<Mended, string>()
  const first = sought.reduce((least, { from }) => (from < least ? from : least), end)
  if (first >= end) return found
  const part = { partition, start: first > start ? first : start, end }
  for await (const records of log.read(topic, [part])) {
    for (const record of records) {
      const same = sought.find(({ mended, from }) => record.offset >= from && isRecordOf(mended, record))
      if (same && !found.has(same.mended)) found.set(same.mended, whereIs(record))
    }
    if (found.size === sought.length) break
  }
  return found
}

/** Any publisher can write the header `replayed-from`, so bytes, key and all headers must be the same. */
function isRecordOf({ key, value, headers }: Mended, record: LogRecord): boolean {
  return (
    record.value.equals(value) &&
    (key === undefined ? record.key === undefined : record.key?.equals(key) === true) &&
    record.headers.length === headers.length &&
    record.headers.every(([name, text], index) => {
      const [wantedName, wantedText] = headers[index] ?? []
      return wantedName?.equals(name) && wantedText?.equals(text)
    })
  )
}
