import type { KafkaConnection } from '@orderflow/kafka-log'
import type { Application } from '@orderflow/service-kit/application'
import type { TrustSettings } from '@orderflow/service-kit/log'
import type { EventRow, Unreadable } from '../api/events.ts'
import { hashOf } from '../index/guid-runs.ts'
import type { IndexRecord } from '../index/record.ts'
import type { SegmentFacts } from '../index/segment.ts'
import { type Kind, kindKey } from '../model/kind.ts'
import { rowOf } from '../model/row.ts'

export interface IngestData {
  kafka: KafkaConnection
  trust: TrustSettings
  /** The folder for relative paths in the trust settings. */
  root: string
  application: Pick<Application, 'reactions' | 'topics' | 'services'>
  folder: string
  segmentEvents: number
  keepEvents: number
  keepMs: number
}

export type ToIngest =
  /** Reports whether a live view is open, and the hashes of GUIDs and record keys in the filters of views. */
  { type: 'watch'; isLive: boolean; hashes: number[] } | { type: 'stop' }

export type FromIngest = IngestBatch | IngestState | { type: 'stopped' }

/** Exact counts by kind, and the newest rows of each kind. */
export interface IngestBatch {
  type: 'batch'
  kinds: {
    kind: Kind
    count: number
    rows: EventRow[]
    /** Milliseconds from the arrival of the cause to the arrival of the reaction, for the newest reactions. */
    delays: number[]
  }[]
  watched: { hash: number; kind: Kind; count: number; rows: EventRow[] }[]
}

export interface IngestState {
  type: 'state'
  isConnected: boolean
  error: string | null
  /** Number of unread records; null until Kafka has answered. */
  lag: number | null
  unreadable: Unreadable[]
  perSecond: number
  segments: SegmentFacts[]
}

/** The largest number of rows per kind in a batch. */
export const maxRows = 20

export interface Watch {
  isLive: boolean
  hashes: ReadonlySet<number>
}

/** Returns the counts of records by kind. While a live view is open, also returns rows. */
export function liveBatch(
  records: readonly IndexRecord[],
  kinds: readonly Kind[],
  { isLive, hashes }: Watch,
): IngestBatch {
  const byKind = new Map<Kind, IngestBatch['kinds'][number]>()
  const watched = new Map<string, IngestBatch['watched'][number]>()
  for (let index = records.length - 1; index >= 0; index -= 1) {
    const [record, kind] = [records[index] as IndexRecord, kinds[index] as Kind]
    const entry = byKind.get(kind) ?? { kind, count: 0, rows: [], delays: [] }
    byKind.set(kind, entry)
    count(entry, record, isLive)
    const delay = entry.delays.length < maxRows ? delayOf(record) : undefined
    if (delay !== undefined) entry.delays.push(delay)
    if (hashes.size === 0) continue
    for (const guid of record.guids) {
      const hash = hashOf(guid)
      if (!hashes.has(hash)) continue
      const key = `${hash} ${kindKey(kind)}`
      const own = watched.get(key) ?? { hash, kind, count: 0, rows: [] }
      watched.set(key, own)
      count(own, record, isLive)
    }
  }
  return { type: 'batch', kinds: [...byKind.values()], watched: [...watched.values()] }
}

function count(entry: { kind: Kind; count: number; rows: EventRow[] }, record: IndexRecord, isLive: boolean): void {
  entry.count += 1
  if (isLive && entry.rows.length < maxRows) entry.rows.push(indexedRow(record, entry.kind))
}

function indexedRow({ topic, partition, offset, at, bytes, body }: IndexRecord, kind: Kind) {
  return rowOf({ position: { topic, partition, offset: String(offset) }, at, bytes, kind, body })
}

/** A longer delay is not the time of a reaction: one of the two times was invented. */
const maxDelayMs = 365 * 24 * 60 * 60 * 1_000

/** Returns the time since `caused-at`. Ignores an invalid header, because outside publishers can write any value. */
function delayOf({ at, body }: IndexRecord): number | undefined {
  const cause = Number(body.headers?.find(({ name }) => name === 'caused-at')?.value)
  return cause > 0 && at >= cause && at - cause < maxDelayMs ? at - cause : undefined
}
