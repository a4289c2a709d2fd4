import { randomUUID } from 'node:crypto'
import { invalid } from './problem.ts'
import type { Read } from './reader.ts'

/** Where the list begins: the key of the document that names the newest chunk. */
export const listRootKey = 'list/root'
export const chunkKey = (chunk: string): string => `list/${chunk}`

/** Ids in order of arrival, and the next older chunk. */
interface Chunk {
  ids: string[]
  older: string | undefined
}

interface Root {
  newest: string
}

/** What one batch adds to the list. It becomes part of the list when its documents are written. */
export interface ListDraft {
  /** Puts an id at the newest end. Answers its place, which the listed document keeps in `listed`. */
  append(id: string): string
  documents(): { key: string; value: unknown; guarded: boolean }[]
}

export interface ArrivalList {
  /** A draft on top of the root as just read. */
  draft(root: unknown): ListDraft
  committed(draft: ListDraft): void
  /** The outcome of a write is unknown: the next draft begins a chunk of its own. */
  forget(): void
}

/** Ids a chunk holds before the next one is begun: rewriting it stays cheap, and a page reads one or two. */
const chunkSize = 64
/** How long a writer goes on with its chunk after another writer has begun a newer one. */
const sharedForMs = 1_000

/**
 * The service's list, newest arrival first, kept in the state store (Dapr has no query that all stores share): a
 * chain of small chunks. A chunk has one writer, this process; only beginning a chunk touches the shared root,
 * guarded by its etag. With several replicas the order is exact but for the last second.
 */
export function createArrivalList(now: () => Date): ArrivalList {
  let mine: { name: string; chunk: Chunk; begun: number } | undefined
  const drafted = new WeakMap<ListDraft, typeof mine>()

  function isUsable(root: Root | undefined): boolean {
    if (!mine || mine.chunk.ids.length >= chunkSize) return false
    return root?.newest === mine.name || now().getTime() - mine.begun < sharedForMs
  }

  return {
    draft(stored) {
      const root = stored as Root | undefined
      const goesOn = isUsable(root) ? mine : undefined
      const name = goesOn?.name ?? randomUUID()
      const chunk: Chunk = { ids: [...(goesOn?.chunk.ids ?? [])], older: goesOn ? goesOn.chunk.older : root?.newest }
      const before = chunk.ids.length
      const draft: ListDraft = {
        append: (id) => `${name}:${chunk.ids.push(id) - 1}`,
        documents() {
          if (chunk.ids.length === before) return []
          const written = { key: chunkKey(name), value: chunk, guarded: false }
          return goesOn ? [written] : [written, { key: listRootKey, value: { newest: name }, guarded: true }]
        },
      }
      drafted.set(draft, { name, chunk, begun: goesOn?.begun ?? now().getTime() })
      return draft
    },
    committed(draft) {
      if (draft.documents().length > 0) mine = drafted.get(draft)
    },
    forget() {
      mine = undefined
    },
  }
}

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
  while (place) {
    const chunk = await readDocument<Chunk>(read, chunkKey(place.chunk))
    if (!chunk) {
      if (options.cursor === undefined) break
      throw invalid([{ pointer: 'cursor', detail: 'is not a cursor of this list; take `next` of the page before' }])
    }
    const name = place.chunk
    const slots = chunk.ids.map((id, slot) => ({ id, slot })).slice(0, place.before)
    while (slots.length > 0 && items.length < options.limit) {
      const some = slots.splice(-Math.min(slots.length, options.limit - items.length)).reverse()
      const loaded = await load(some.map(({ id }) => id))
      for (const [index, { slot }] of some.entries()) {
        const found = loaded[index]
        if (found?.listed === `${name}:${slot}`) items.push(found.item)
      }
    }
    const rest = slots.length > 0 ? { chunk: name, before: slots.length } : undefined
    const after = rest ?? (chunk.older ? { chunk: chunk.older, before: undefined } : undefined)
    if (!after || items.length >= options.limit) return { items, next: after ? encodeCursor(after) : null }
    place = after
  }
  return { items, next: null }
}

interface Place {
  chunk: string
  /** Slots below this one are still to come; undefined: all of the chunk. */
  before: number | undefined
}

async function newest(read: Read): Promise<Place | undefined> {
  const root = await readDocument<Root>(read, listRootKey)
  return root && { chunk: root.newest, before: undefined }
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
    throw invalid([{ pointer: 'cursor', detail: 'is not a cursor of this list; take `next` of the page before' }])
  }
  return { chunk: match[1], before: match[2] ? Number(match[2]) : undefined }
}
