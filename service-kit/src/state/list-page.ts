import { invalid, type Problem } from '../web/problem.ts'
import { type Chunk, chunkKey, listRootKey, type Root } from './arrival-list.ts'
import type { Read } from './reader.ts'

export interface Page<T> {
  items: T[]
  /** Opaque; hand it back for the next older page. Null at the end of the list. */
  next: string | null
}

/**
 * Reads a page, newest arrival first. `load` answers, in order, what stands under the ids; an id counts only where
 * its document's `listed` names this very place, so one that two replicas listed at once shows up once.
 * @throws {Problem} 400 when the cursor is not one of ours
 */
export async function readPage<T>(
  read: Read,
  options: { cursor: string | undefined; limit: number },
  load: (ids: string[]) => Promise<({ item: T; listed: string | undefined } | undefined)[]>,
): Promise<Page<T>> {
  const items: T[] = []
  let place = options.cursor === undefined ? await newest(read) : decodeCursor(options.cursor)
  while (place && items.length < options.limit) {
    const { entries, rest } = await take(read, place, options.limit - items.length)
    const loaded = await load(entries.map(({ id }) => id))
    for (const [index, entry] of entries.entries()) {
      const found = loaded[index]
      if (found?.listed === entry.listed) items.push(found.item)
    }
    place = rest
  }
  return { items, next: place ? encodeCursor(place) : null }
}

/** At most `count` entries of a chunk from a place on, newest first, and the place after them. */
async function take(read: Read, { chunk, before, isGiven }: Place, count: number) {
  const stored = await readDocument<Chunk>(read, chunkKey(chunk))
  if (!stored) throw isGiven ? notACursor() : new Error(`list chunk ${chunk} is missing`)
  const end = Math.min(before ?? stored.ids.length, stored.ids.length)
  const start = Math.max(0, end - count)
  const entries = stored.ids.slice(start, end).map((id, index) => ({ id, listed: `${chunk}:${start + index}` }))
  const older = stored.older === undefined ? undefined : { chunk: stored.older, before: undefined, isGiven: false }
  return { entries: entries.reverse(), rest: start > 0 ? { chunk, before: start, isGiven: false } : older }
}

interface Place {
  chunk: string
  /** Slots below this one are still to come; undefined: all of the chunk. */
  before: number | undefined
  /** Of a client's cursor, which may be made up, or of a list that was rebuilt since. */
  isGiven: boolean
}

async function newest(read: Read): Promise<Place | undefined> {
  const root = await readDocument<Root>(read, listRootKey)
  return root && { chunk: root.newest, before: undefined, isGiven: false }
}

async function readDocument<T>(read: Read, key: string): Promise<T | undefined> {
  return (await read([key])).get(key)?.value as T | undefined
}

function encodeCursor({ chunk, before }: Place): string {
  return Buffer.from(`${chunk}:${before ?? ''}`).toString('base64url')
}

function decodeCursor(cursor: string): Place {
  const match = /^([0-9a-f-]{36}):(\d{0,9})$/.exec(Buffer.from(cursor, 'base64url').toString())
  if (!match?.[1]) {
    throw notACursor()
  }
  return { chunk: match[1], before: match[2] ? Number(match[2]) : undefined, isGiven: true }
}

function notACursor(): Problem {
  return invalid([{ pointer: 'cursor', detail: 'is not a cursor of this list; take `next` of the page before' }])
}
