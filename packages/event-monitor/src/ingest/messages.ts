import type { Reaction } from '@orderflow/service-kit/application'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import type { TrustSettings } from '@orderflow/service-kit/trust'
import type { EventRow, Unreadable } from '../api/events.ts'
import { hashOf } from '../index/guid-runs.ts'
import type { IndexRecord } from '../index/record.ts'
import type { SegmentFacts } from '../index/segment.ts'
import { type Kind, kindKey } from '../model/kind.ts'
import { rowOf } from '../model/row.ts'

/** What the thread that reads the log is told at its start. */
export interface IngestData {
  kafka: KafkaConnection
  /** Whom to trust, and the service's folder, which the file's name is seen from. */
  trust: TrustSettings
  /** The setting of that name. */
  positionIdsBefore: string
  root: string
  /** Expected reactions, by services.json. */
  reactions: readonly Reaction[]
  folder: string
  segmentEvents: number
  keepEvents: number
  keepMs: number
}

/** What it is told later. */
export type ToIngest =
  /** Whether somebody looks, so that rows are worth making; and by which hashes of GUIDs somebody looks. */
  { type: 'watch'; isLive: boolean; hashes: number[] } | { type: 'stop' }

/** What it tells. */
export type FromIngest = IngestBatch | IngestState | { type: 'stopped' }

/** Events that were indexed: their counts by kind, which are exact, and the newest few rows of each kind. */
export interface IngestBatch {
  type: 'batch'
  kinds: {
    kind: Kind
    count: number
    rows: EventRow[]
    /** Of the newest reactions: milliseconds since their causes reached the log. */
    delays: number[]
  }[]
  /** Of each hash that is watched: rows, and how many. */
  watched: { hash: number; kind: Kind; count: number; rows: EventRow[] }[]
}

export interface IngestState {
  type: 'state'
  isConnected: boolean
  /** Why not, in words. */
  error: string | null
  /** Null until Kafka told. */
  lag: number | null
  /** While the others are read. */
  unreadable: Unreadable[]
  perSecond: number
  segments: SegmentFacts[]
}

/** Rows of a kind that are shown at most of a batch (`LiveBatch.rows`). */
export const maxRows = 20

export interface Watch {
  isLive: boolean
  hashes: ReadonlySet<number>
}

/** What live views are told of records that were indexed. Rows are made for the newest only, and only while somebody looks. */
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

/** How long a reaction took, by the header that says when its cause arrived. On a topic that others write it may say anything. */
function delayOf({ at, body }: IndexRecord): number | undefined {
  const cause = Number(body.headers?.find(({ name }) => name === 'caused-at')?.value)
  return cause > 0 && at >= cause ? at - cause : undefined
}
