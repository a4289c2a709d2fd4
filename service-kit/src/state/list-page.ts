import { type Chunk, chunkKey, listRootKey, type Root } from './arrival-list.ts'
import type { Read } from './reader.ts'

export interface Page<T> {
  items: T[]
  /** Opaque; hand it back for the next older page. Null at the end of the list. */
  next: string | null
}

export interface PageOptions {
  cursor: string | undefined
  /** 1 or more. */
  limit: number
}

/** What was given as a cursor is none of this list. */
export class CursorError extends Error {
  readonly code = 'cursor'
  constructor() {
    super('is not a cursor of this list; take `next` of the page before')
    this.name = 'CursorError'
  }
}

/**
 * Reads a page, newest arrival first. `load` answers, in order, what stands under the ids; an id counts only where
 * its document's `listed` names this very slot, so one that two replicas listed at once shows up once.
 * @throws {CursorError} when the cursor is not one of ours
 */
export async function readPage<T>(
  read: Read,
  options: PageOptions,
  load: (ids: string[]) => Promise<({ item: T; listed: string | undefined } | undefined)[]>,
): Promise<Page<T>> {
  const items: T[] = []
  let from = options.cursor === undefined ? await newest(read) : decodeCursor(options.cursor)
  while (from && items.length < options.limit) {
    const { entries, rest } = await entriesFrom(read, from, options.limit - items.length)
    const loaded = await load(entries.map(({ id }) => id))
    for (const [index, entry] of entries.entries()) {
      const found = loaded[index]
      if (found?.listed === entry.listed) items.push(found.item)
    }
    from = rest
  }
  return { items, next: from ? encodeCursor(from) : null }
}

/** At most `count` entries of a chunk from a slot on, newest first, and the slot after them. */
async function entriesFrom(read: Read, { chunk, before, isGiven }: Slot, count: number) {
  const stored = await readDocument<Chunk>(read, chunkKey(chunk))
  if (!stored) throw isGiven ? new CursorError() : new Error(`list chunk ${chunk} is missing`)
  const end = Math.min(before ?? stored.ids.length, stored.ids.length)
  const start = Math.max(0, end - count)
  const entries = stored.ids.slice(start, end).map((id, index) => ({ id, listed: `${chunk}:${start + index}` }))
  const older = stored.older === undefined ? undefined : { chunk: stored.older, before: undefined, isGiven: false }
  return { entries: entries.reverse(), rest: start > 0 ? { chunk, before: start, isGiven: false } : older }
}

interface Slot {
  chunk: string
  /** Slots below this one are still to come; undefined: all of the chunk. */
  before: number | undefined
  /** Of a client's cursor, which may be made up, or of a list that was rebuilt since. */
  isGiven: boolean
}

async function newest(read: Read): Promise<Slot | undefined> {
  const root = await readDocument<Root>(read, listRootKey)
  return root && { chunk: root.newest, before: undefined, isGiven: false }
}

async function readDocument<T>(read: Read, key: string): Promise<T | undefined> {
  return (await read([key])).get(key)?.value as T | undefined
}

function encodeCursor({ chunk, before }: Slot): string {
  return Buffer.from(`${chunk}:${before ?? ''}`).toString('base64url')
}

function decodeCursor(cursor: string): Slot {
  const match = /^([0-9a-f-]{36}):(\d{0,9})$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (!match?.[1]) {
    throw new CursorError()
  }
  return { chunk: match[1], before: match[2] ? Number(match[2]) : undefined, isGiven: true }
}
