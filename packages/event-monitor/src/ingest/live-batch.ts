import type { EventRow } from '../api/events.ts'
import type { IndexRecord } from '../index/batch.ts'
import { hashOf } from '../index/hash.ts'
import { type Kind, kindKey } from '../model/kind.ts'
import { rowOf } from '../model/row.ts'
import type { IngestBatch } from './messages.ts'

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
  return rowOf({ place: { topic, partition, offset: String(offset) }, at, bytes, kind, body })
}

/** How long a reaction took, by the header that says when its cause arrived. On a topic that others write it may say anything. */
function delayOf({ at, body }: IndexRecord): number | undefined {
  const cause = Number(body.headers?.find(({ name }) => name === 'caused-at')?.value)
  return cause > 0 && at >= cause ? at - cause : undefined
}
