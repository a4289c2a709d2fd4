import type { Read } from '../sidecar/sidecar.ts'
import { type Chunk, chunkKey, readHeads, shardCount, slotOf } from './arrival-list.ts'

export interface Page<T> {
  items: T[]
  /** The opaque cursor of the next page, which has older items; null at the end of the list. */
  next: string | null
}

export interface PageOptions {
  cursor: string | undefined
  limit: number
}

/** Returns the documents of listed ids, in the order of the ids; undefined for a missing document. */
export type Load<T> = (ids: string[], read: Read) => Promise<({ item: T; listed: string | undefined } | undefined)[]>

export interface Reader {
  /** Returns the existing documents by key. A missing document is certainly absent, because it was also read with a separate call. */
  read: Read
  /**
   * Returns documents by key, but may leave out existing documents. Many keys of a list are absent. So each key is read with a separate call only if
   * a bulk read returns nothing.
   */
  scan: Read
}

export class CursorError extends Error {
  readonly code = 'cursor'
  constructor() {
    super('is not a cursor of this list; use the `next` of the previous page')
    this.name = 'CursorError'
  }
}

interface Position {
  shard: number
  n: number
  /** The number of unread entries in the chunk; undefined if all are unread. Entries are read from the newest to the oldest. */
  before: number | undefined
  chunk: Chunk | undefined
  older?: Chunk | undefined
  /** True if the position comes from a client's cursor, which may be invented or outdated. */
  isGiven: boolean
}

/**
 * Reads a page, with the newest arrival first. The order of entries is exact within a shard. Between shards, it follows the times of the entries, which never go back. An entry
 * is valid only if the field `listed` of its document names the entry's slot. So an id that two replicas listed appears once. The newest chunks are
 * read only in bulk, and a bulk read may leave out a chunk. So the newest entries may be missing until the next read.
 */
export async function readPage<T>(reader: Reader, options: PageOptions, load: Load<T>): Promise<Page<T>> {
  const items: T[] = []
  let positions = options.cursor === undefined ? await newest(reader.scan) : decodeCursor(options.cursor)
  while (positions.length > 0 && items.length < options.limit) {
    const entries: Entry[] = []
    while (positions.length > 0 && entries.length < options.limit - items.length) {
      await fill(reader, positions, options.limit - items.length - entries.length)
      positions = merge(positions, options.limit - items.length, entries)
    }
    const found = await load(idsOf(entries), reader.scan)
    const missing = entries.filter((_, index) => !found[index])
    const others = missing.length > 0 ? await load(idsOf(missing), reader.read) : []
    for (const [index, entry] of entries.entries()) {
      const document = found[index] ?? others[missing.indexOf(entry)]
      if (document?.listed === entry.slot) items.push(document.item)
    }
  }
  return { items, next: positions.length > 0 ? encodeCursor(positions) : null }
}

type Entry = Record<'id' | 'slot', string>

const idsOf = (entries: readonly Entry[]) => entries.map(({ id }) => id)

/** Returns for each entry whether the list has this id in this slot. */
export async function isListedAt(read: Read, entries: readonly Entry[]): Promise<boolean[]> {
  const places = entries.map(({ slot }) => /^(\d{1,2}):(\d{1,9}):(\d{1,9})$/.exec(slot)?.slice(1).map(Number) ?? [])
  const keys = places.map(([shard = -1, n = -1]) => chunkKey(shard, n))
  const found = await read([...new Set(keys)])
  return entries.map(({ id }, index) => {
    const chunk = found.get(keys[index] ?? '')?.value as Chunk | undefined
    return chunk?.ids[places[index]?.[2] ?? -1] === id
  })
}

async function newest(read: Read): Promise<Position[]> {
  const heads = await readHeads(read)
  return heads.map(({ shard, n, chunk }) => ({ shard, n, chunk, before: chunk.ids.length, isGiven: false }))
}

/**
 * Reads the chunks of the positions, and the earlier chunks that are probably needed for `count` entries. A missing chunk is treated as the
 * end of its shard. A chunk can be missing if the store was emptied during a write (docs/operations.md).
 */
async function fill({ read, scan }: Reader, positions: Position[], count: number): Promise<void> {
  const open = positions.filter(({ chunk }) => !chunk)
  if (open.length === 0) return
  const share = (2 * count) / positions.length
  const short = positions.filter(({ n, before = share, older }) => n > 0 && before < share && !older)
  const older = short.map(({ shard, n }) => chunkKey(shard, n - 1))
  const found = await scan([...open.map(({ shard, n }) => chunkKey(shard, n)), ...older])
  const stored = (shard: number, n: number) => found.get(chunkKey(shard, n))?.value as Chunk | undefined
  for (const position of open) {
    const { shard, n, isGiven } = position
    const key = chunkKey(shard, n)
    const chunk = stored(shard, n) ?? ((await read([key])).get(key)?.value as Chunk | undefined)
    if (!chunk && isGiven) throw new CursorError()
    position.chunk = chunk ?? { by: '', ids: [], at: [] }
    position.before = Math.min(position.before ?? position.chunk.ids.length, position.chunk.ids.length)
  }
  for (const position of short) position.older = stored(position.shard, position.n - 1)
}

/**
 * Adds the newest entries of all shards to `entries`, until it has `limit` entries, or until a shard needs its next chunk. Returns the positions of
 * the remaining entries.
 */
function merge(positions: Position[], limit: number, entries: Entry[]): Position[] {
  while (entries.length < limit && positions.every(({ before }) => before !== 0)) {
    const newest = positions.reduce((best, position) => (lastOf(position) > lastOf(best) ? position : best))
    const { shard, n, chunk } = newest
    newest.before = (newest.before as number) - 1
    entries.push({ id: chunk?.ids[newest.before] as string, slot: slotOf(shard, n, newest.before) })
  }
  return positions.flatMap((position) => {
    const { shard, n, chunk, older, before } = position
    if (before !== 0) return [position]
    if (n === 0 || chunk?.ids.length === 0) return []
    return [{ shard, n: n - 1, before: older?.ids.length, chunk: older, isGiven: false }]
  })
}

const lastOf = ({ chunk, before = 0 }: Position): number => chunk?.at[before - 1] ?? 0

/** Returns the cursor in base64url. It contains `shard.chunk.before` for each shard. */
function encodeCursor(positions: Position[]): string {
  const text = positions.map(({ shard, n, before = '' }) => `${shard}.${n}.${before}`).join()
  return Buffer.from(text).toString('base64url')
}

function decodeCursor(cursor: string): Position[] {
  const positions = Buffer.from(cursor, 'base64url').toString().split(',').map(decodePosition)
  if (new Set(positions.map(({ shard }) => shard)).size < positions.length) throw new CursorError()
  return positions
}

function decodePosition(text: string): Position {
  const match = /^(\d{1,2})\.(\d{1,9})\.([1-9]\d{0,8})?$/.exec(text)
  if (!match || Number(match[1]) >= shardCount) throw new CursorError()
  const [shard, n] = [Number(match[1]), Number(match[2])]
  return { shard, n, before: match[3] ? Number(match[3]) : undefined, chunk: undefined, isGiven: true }
}
