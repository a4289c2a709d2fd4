import { randomUUID } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Read, Write } from '../sidecar/sidecar.ts'
import type { BatchWriter, Draft } from './batch-writer.ts'
import type { DueEntry, LaneWriter } from './deadlines/lanes.ts'
import { createListClock, type ListClock } from './list-clock.ts'
import type { Mark, RegisterWriter } from './registers.ts'

/** The number of shards (list lanes) of a list. If there are more writers than shards, some writers share a shard and must sometimes repeat a write. */
export const shardCount = 16
/**
 * Returns the key of the document that contains the number of a shard's newest chunk. This number may be wrong by a few chunks, so readers search
 * near it.
 */
const hintKey = (shard: number): string => `list/${shard}`
export const chunkKey = (shard: number, n: number): string => `list/${shard}/${n}`

/** A part of a list: ids in the order of their arrival, each with its time of arrival in milliseconds since 1970. The times never decrease. */
export interface Chunk {
  /** The id of the process that began the chunk. Only this process adds ids to it. */
  by: string
  ids: string[]
  at: number[]
}

type Head = { shard: number; n: number; chunk: Chunk }

/** Returns the newest chunk of each used shard. This takes two or three bulk reads. */
export async function readHeads(read: Read, space = ''): Promise<Head[]> {
  const shards = range(0, shardCount)
  const keyOf = (shard: number, n: number) => space + chunkKey(shard, n)
  const hints = await read(shards.map((shard) => space + hintKey(shard)))
  const heads: (Head | undefined)[] = []
  let open = shards.map((shard) => {
    const hint = (hints.get(space + hintKey(shard))?.value as number | undefined) ?? 0
    return { shard, next: Math.max(0, hint - 1) }
  })
  for (let window = 3; open.length > 0; window *= 2) {
    const found = await read(open.flatMap(({ shard, next }) => range(next, window).map((n) => keyOf(shard, n))))
    open = open.filter(({ shard, next }) => {
      for (const n of range(next, window)) {
        const chunk = found.get(keyOf(shard, n))?.value as Chunk | undefined
        if (chunk) heads[shard] = { shard, n, chunk }
      }
      return heads[shard]?.n === next + window - 1
    })
    for (const shard of open) shard.next += window
  }
  return heads.filter((head) => head !== undefined)
}

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index)

/** Returns the name of a slot: `shard:chunk:index`. */
export const slotOf = (shard: number, n: number, index: number): string => `${shard}:${n}:${index}`

/** A list of this process. `append` returns the slot of an id, which the listed document must store in its field `listed`. */
type ArrivalList = BatchWriter<Draft & { append(id: string): string }>

/** The lists of a batch, and its register if the batch announces events. */
export interface BatchDraft extends Draft {
  append(space: string, id: string): string
  mark(): Mark
  arm(entry: DueEntry, notBefore?: number): void
}

export type BatchLists = BatchWriter<BatchDraft>

/** The properties of an operation that concern its list. A space is the key prefix of a tenant, and each tenant has one list. */
type Listed = { space?: string; announces?: boolean; arms?: boolean }

/** Returns the process's list writers for these operations, its register if one announces events, and its lane if one adds deadlines. */
export type ArrivalLists = (works: readonly Listed[]) => BatchLists

/**
 * The largest number of open lists. It must exceed the number of lists in a batch. After a list is closed, its next use begins a new chunk.
 */
const maxOpen = 1_000

/** The register and the lane of a process. */
interface OwnWriters {
  register: RegisterWriter
  lane: LaneWriter
}

/**
 * @param options.own undefined for a process that neither announces events nor has deadlines
 * @param options.elapsed returns the time since any fixed moment in milliseconds; the default ignores changes of the system's clock
 */
export function createArrivalLists(
  now: () => Date,
  { own, elapsed = () => performance.now() }: { own?: OwnWriters; elapsed?: () => number } = {},
): ArrivalLists {
  const lists = new LRUCache<string, ArrivalList>({
    max: maxOpen,
    memoMethod: (space) => createArrivalList(createListClock(now, elapsed), space),
  })
  return (works) => {
    const spaces = new Set(works.map(({ space = '' }) => space))
    const used = new Map(Array.from(spaces, (space) => [space, lists.memo(space)]))
    return together(
      used,
      works.some(({ announces }) => announces) ? own?.register : undefined,
      works.some(({ arms }) => arms) ? own?.lane : undefined,
    )
  }
}

function together(
  lists: Map<string, ArrivalList>,
  register: RegisterWriter | undefined,
  lane: LaneWriter | undefined,
): BatchLists {
  const all: BatchWriter<Draft>[] = [...lists.values(), register, lane].filter((writer) => writer !== undefined)
  return {
    watched(isSequential) {
      const each = all.map((list) => list.watched(isSequential))
      return {
        keys: each.flatMap(({ keys }) => keys),
        check(read) {
          for (const { check } of each) check(read)
        },
      }
    },
    open: async (read) => {
      await Promise.all(all.map((list) => list.open(read)))
    },
    draft() {
      const drafts = new Map(Array.from(lists, ([space, list]) => [space, list.draft()]))
      const [ownRegister, ownLane] = [register?.draft(), lane?.draft()]
      const each = [...drafts.values(), ownRegister, ownLane].filter((draft) => draft !== undefined)
      return {
        append: (space, id) => drafts.get(space)?.append(id) as string,
        mark: () => ownRegister?.mark() ?? '',
        arm: (entry, notBefore) => ownLane?.arm(entry, notBefore),
        writes: () => each.flatMap((draft) => draft.writes()),
        stored(etag) {
          for (const draft of each) draft.stored(etag)
        },
      }
    },
    leave(isConflict) {
      for (const list of all) list.leave(isConflict)
    },
  }
}

/** The number of ids in a chunk. With this size, rewriting a chunk is cheap, and a page needs few chunks. */
const chunkSize = 64

interface WritePosition {
  shard: number
  n: number
  /** The newest chunk; undefined if another process began it. */
  chunk: Chunk | undefined
  /** The etags of this process's chunk and of the shard's hint, if they are known. */
  etags?: { chunk: string; hint: string } | undefined
}

/** Returns the guard for a known etag. If the etag is unknown, the write has no guard. */
const guardedBy = (etag: string | undefined): Pick<Write, 'guard'> => (etag ? { guard: { etag } } : {})

/**
 * Creates the writer of a list. Readers read the list from the newest to the oldest id. Dapr has no query that works on all stores, so the list
 * consists of shards with small, numbered chunks (docs/adr/0017). Only the process that began a chunk writes it, so replicas never write the same
 * chunk.
 */
function createArrivalList(clock: ListClock, space: string): ArrivalList {
  const by = randomUUID()
  let current: WritePosition | undefined
  let begun: string | undefined

  return {
    // If the etags of the writer's documents are known, their next writes have guards instead.
    watched() {
      const key = begun
      if (!key || current?.etags) return { keys: [], check() {} }
      return {
        keys: [key],
        check(read) {
          const stored = read.get(key)?.value as Chunk | undefined
          // The store was emptied or restored, so the writer leaves its shard.
          if (key === begun && stored?.by !== by) [current, begun] = [undefined, undefined]
        },
      }
    },

    async open(read) {
      if (current && !clock.isDue()) return
      const heads = await readHeads(read, space)
      clock.advance(heads.map(lastOf))
      if (current) return
      const { shard, n } = freeShard(heads, clock.read())
      current = { shard, n, chunk: undefined }
    },

    draft() {
      if (!current) throw new Error('the list was not opened')
      const { shard, etags } = current
      const own = current.chunk && current.chunk.ids.length < chunkSize ? current.chunk : undefined
      const n = own ? current.n : current.n + 1
      const chunk: Chunk = { by, ids: [...(own?.ids ?? [])], at: [...(own?.at ?? [])] }
      const isUnchanged = () => chunk.ids.length === (own?.ids.length ?? 0)
      return {
        append(id) {
          chunk.at.push(clock.tick())
          return slotOf(shard, n, chunk.ids.push(id) - 1)
        },
        writes() {
          if (isUnchanged()) return []
          const written = { key: space + chunkKey(shard, n), value: JSON.stringify(chunk) }
          return own
            ? [{ ...written, ...guardedBy(etags?.chunk) }]
            : [
                { ...written, guard: 'absent' },
                { key: space + hintKey(shard), value: String(n), ...guardedBy(etags?.hint) },
              ]
        },
        stored(etag) {
          if (isUnchanged()) return
          current = { shard, n, chunk, etags: etag ? { chunk: etag, hint: (own && etags?.hint) ?? etag } : undefined }
          begun = space + chunkKey(shard, n)
        },
      }
    },

    // The store may execute the failed write later, so the writer leaves its shard.
    leave() {
      current = undefined
    },
  }
}

const lastOf = ({ chunk }: Head): number => chunk.at.at(-1) ?? 0

/**
 * The time without new entries after which another process may continue a shard. If the previous process still uses the shard, one of the two
 * processes must repeat a write once.
 */
const idleMs = 10_000

/**
 * Returns a shard that this process may use, and the number of its newest chunk. Idle shards are preferred to unused shards, because a page reads
 * every shard that was ever used. The choice is random, so that replicas that start at the same time choose different shards.
 */
function freeShard(heads: Head[], now: number): { shard: number; n: number } {
  const used = new Set(heads.map(({ shard }) => shard))
  const unused = range(0, shardCount).flatMap((shard) => (used.has(shard) ? [] : [{ shard, n: -1 }]))
  const idle = heads.filter((head) => lastOf(head) < now - idleMs)
  const candidates = [idle, unused, heads].find(({ length }) => length > 0) as { shard: number; n: number }[]
  return candidates[Math.floor(Math.random() * candidates.length)] as { shard: number; n: number }
}
