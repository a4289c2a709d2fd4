import { randomUUID } from 'node:crypto'
import type { Read, StoredDocument, Write } from '../sidecar/sidecar.ts'

/** The number of shards, the list lanes. More writers than this share shards, so they sometimes lose a race. */
export const shardCount = 16
/**
 * The key of the document with the number of the shard's newest chunk. It is written when the chunk is begun. The number is one ahead if that failed,
 * and behind if others began chunks since. So readers search around it.
 */
const hintKey = (shard: number): string => `list/${shard}`
export const chunkKey = (shard: number, n: number): string => `list/${shard}/${n}`

/** Ids in the order of arrival, and the time of each arrival in milliseconds since 1970. The times never decrease. */
export interface Chunk {
  /** The process that began the chunk. Only this process adds to it. */
  by: string
  ids: string[]
  at: number[]
}

/** A shard's newest chunk. */
interface Head {
  shard: number
  n: number
  chunk: Chunk
}

/** Returns the newest chunk of each used shard. It takes two bulk reads, and one more for shards whose hint is far behind. */
export async function readHeads(read: Read, space = ''): Promise<Head[]> {
  const shards = Array.from({ length: shardCount }, (_, shard) => shard)
  const hints = await read(shards.map((shard) => space + hintKey(shard)))
  const heads: (Head | undefined)[] = []
  let open = shards.map((shard) => {
    const hint = (hints.get(space + hintKey(shard))?.value as number | undefined) ?? 0
    return { shard, next: Math.max(0, hint - 1) }
  })
  for (let window = 3; open.length > 0; window *= 2) {
    const found = await read(
      open.flatMap(({ shard, next }) => range(next, window).map((n) => space + chunkKey(shard, n))),
    )
    open = open.filter(({ shard, next }) => {
      for (const n of range(next, window)) {
        const chunk = found.get(space + chunkKey(shard, n))?.value as Chunk | undefined
        if (chunk) heads[shard] = { shard, n, chunk }
      }
      return heads[shard]?.n === next + window - 1
    })
    for (const shard of open) shard.next += window
  }
  return heads.filter((head) => head !== undefined)
}

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index)

/** Returns the name of an entry's slot: `shard:chunk:index`. */
export const slotOf = (shard: number, n: number, index: number): string => `${shard}:${n}:${index}`

/** The entries that one batch adds to a list. */
interface ListDraft {
  /** Appends an id at the newest end. Returns its slot, which the listed document keeps as `listed`. */
  append(id: string): string
  /** Returns the writes to store before, or with, the documents that name their slots. Empty if nothing was appended. */
  writes(): Write[]
  /** Reports that the writes are stored. The next draft continues from there. */
  stored(): void
}

/** The writer of a process for one list, with one draft at a time. */
interface ArrivalList {
  /**
   * Returns the keys to read before a draft. `check` leaves the shard if the store no longer has this process's chunk. Then the store was emptied or
   * restored, and another process may have begun the same chunk.
   */
  watched(): { keys: string[]; check(read: Map<string, StoredDocument>): void }
  /** Finds a shard for this process, unless it has one. */
  open(read: Read): Promise<void>
  draft(): ListDraft
  /** Leaves the shard after a draft with an unknown outcome. The next draft begins a chunk, which a late write cannot change. */
  leave(): void
}

/** The entries that one batch adds to the lists of its spaces. */
export interface ListsDraft extends Pick<ListDraft, 'writes' | 'stored'> {
  /** Appends an id to the list of a space, as `ListDraft.append` does. */
  append(space: string, id: string): string
}

/** The lists that a batch may add to, as one writer. */
export interface BatchLists extends Pick<ArrivalList, 'watched' | 'open' | 'leave'> {
  draft(): ListsDraft
}

/** Returns the writers of a process for the lists of these spaces. Each tenant has one list. */
export type ArrivalLists = (spaces: readonly string[]) => BatchLists

/** The number of open lists. A list that was closed begins a new chunk. A batch must use fewer lists. */
const maxOpen = 1_000

export function createArrivalLists(now: () => Date): ArrivalLists {
  /** The lists, least recently used first. */
  const lists = new Map<string, ArrivalList>()

  function listOf(space: string): ArrivalList {
    const list = lists.get(space) ?? createArrivalList(now, space)
    lists.delete(space)
    lists.set(space, list)
    for (const oldest of lists.keys()) if (lists.size > maxOpen) lists.delete(oldest)
    return list
  }
  return (spaces) => together(new Map(spaces.map((space) => [space, listOf(space)])))
}

function together(lists: Map<string, ArrivalList>): BatchLists {
  const all = [...lists.values()]
  return {
    watched() {
      const each = all.map((list) => list.watched())
      return {
        keys: each.flatMap(({ keys }) => keys),
        check: (read) => {
          for (const { check } of each) check(read)
        },
      }
    },
    open: async (read) => {
      await Promise.all(all.map((list) => list.open(read)))
    },
    draft() {
      const drafts = new Map(Array.from(lists, ([space, list]) => [space, list.draft()]))
      return {
        append: (space, id) => (drafts.get(space) as ListDraft).append(id),
        writes: () => [...drafts.values()].flatMap((draft) => draft.writes()),
        stored: () => {
          for (const draft of drafts.values()) draft.stored()
        },
      }
    },
    leave: () => {
      for (const list of all) list.leave()
    },
  }
}

/** The number of ids in a chunk. Rewriting a chunk stays cheap, and a page reads few chunks. */
const chunkSize = 64

interface WritePosition {
  shard: number
  n: number
  /** Undefined for a chunk of another process, which must not be changed. */
  chunk: Chunk | undefined
}

/**
 * Creates the writer of a list in the state store, newest arrival first. Dapr has no query that all stores share, so the list has shards of small
 * chunks with consecutive numbers (docs/adr/0017). Beginning a chunk is create-only, and only the process that began it writes it. So no two replicas
 * write the same document, and listing is free.
 */
function createArrivalList(now: () => Date, space: string): ArrivalList {
  const by = randomUUID()
  let current: WritePosition | undefined
  /** The key of the newest chunk that this process began. */
  let begun: string | undefined
  let newest = 0

  return {
    watched() {
      const key = begun
      if (!key) return { keys: [], check() {} }
      const check = (read: Map<string, StoredDocument>) => {
        const stored = read.get(key)?.value as Chunk | undefined
        if (key === begun && stored?.by !== by) [current, begun] = [undefined, undefined]
      }
      return { keys: [key], check }
    },

    async open(read) {
      if (current) return
      const { shard, n } = freeShard(await readHeads(read, space), now().getTime())
      current = { shard, n, chunk: undefined }
    },

    draft() {
      if (!current) throw new Error('the list was not opened')
      const { shard } = current
      const own = current.chunk && current.chunk.ids.length < chunkSize ? current.chunk : undefined
      const n = own ? current.n : current.n + 1
      const chunk: Chunk = { by, ids: [...(own?.ids ?? [])], at: [...(own?.at ?? [])] }
      return {
        append(id) {
          newest = Math.max(newest, now().getTime())
          chunk.at.push(newest)
          return slotOf(shard, n, chunk.ids.push(id) - 1)
        },
        writes() {
          if (chunk.ids.length === own?.ids.length || chunk.ids.length === 0) return []
          const written = { key: space + chunkKey(shard, n), value: JSON.stringify(chunk) }
          return own
            ? [written]
            : [
                { ...written, guard: 'absent' },
                { key: space + hintKey(shard), value: String(n) },
              ]
        },
        stored() {
          if (chunk.ids.length === 0) return
          current = { shard, n, chunk }
          begun = space + chunkKey(shard, n)
        },
      }
    },

    leave() {
      current = undefined
    },
  }
}

/** The time after which an unused shard is free. If a process still uses it, one of the two loses a race once. */
const idleMs = 10_000

/**
 * Returns the shard and number of the next chunk. It prefers idle shards, because a page reads all used shards. It chooses at random, because
 * replicas start together.
 */
function freeShard(heads: Head[], now: number): { shard: number; n: number } {
  const used = new Set(heads.map(({ shard }) => shard))
  const unused = Array.from({ length: shardCount }, (_, shard) => ({ shard, n: -1 })).filter(
    ({ shard }) => !used.has(shard),
  )
  const idle = heads.filter(({ chunk }) => (chunk.at.at(-1) ?? 0) < now - idleMs)
  const candidates = [idle, unused, heads].find(({ length }) => length > 0) as { shard: number; n: number }[]
  return candidates[Math.floor(Math.random() * candidates.length)] as { shard: number; n: number }
}
