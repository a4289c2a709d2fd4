import { randomUUID } from 'node:crypto'
import type { Read, StoredDocument, Write } from '../sidecar/sidecar.ts'

/** More writers than this share lanes, which costs each of them a lost race now and then, and nothing else. */
export const laneCount = 16
/**
 * The document of this key has the number of the lane's newest chunk, written when that was begun. It is one ahead where the beginning
 * failed, and behind where others have begun chunks since. So readers search around it.
 */
const hintKey = (lane: number): string => `list/${lane}`
export const chunkKey = (lane: number, n: number): string => `list/${lane}/${n}`

/** Ids in order of arrival, and the time of each arrival: milliseconds since 1970, never falling. */
export interface Chunk {
  /** The process that began it. Only this process adds to it. */
  by: string
  ids: string[]
  at: number[]
}

/** A lane's newest chunk. */
interface Head {
  lane: number
  n: number
  chunk: Chunk
}

/** Returns the newest chunk of every lane that has one: two bulk reads, and one more for lanes whose hint is far behind. */
export async function readHeads(read: Read, space = ''): Promise<Head[]> {
  const lanes = Array.from({ length: laneCount }, (_, lane) => lane)
  const hints = await read(lanes.map((lane) => space + hintKey(lane)))
  const heads: (Head | undefined)[] = []
  let open = lanes.map((lane) => {
    const hint = (hints.get(space + hintKey(lane))?.value as number | undefined) ?? 0
    return { lane, next: Math.max(0, hint - 1) }
  })
  for (let window = 3; open.length > 0; window *= 2) {
    const found = await read(
      open.flatMap(({ lane, next }) => range(next, window).map((n) => space + chunkKey(lane, n))),
    )
    open = open.filter(({ lane, next }) => {
      for (const n of range(next, window)) {
        const chunk = found.get(space + chunkKey(lane, n))?.value as Chunk | undefined
        if (chunk) heads[lane] = { lane, n, chunk }
      }
      return heads[lane]?.n === next + window - 1
    })
    for (const lane of open) lane.next += window
  }
  return heads.filter((head) => head !== undefined)
}

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index)

/** Returns the name of an entry's slot: `lane:chunk:index`. */
export const slotOf = (lane: number, n: number, index: number): string => `${lane}:${n}:${index}`

/** The entries that one batch adds to a list. */
interface ListDraft {
  /** Appends an id at the newest end. Returns its slot, which the listed document keeps as `listed`. */
  append(id: string): string
  /** Returns the writes to store before the documents that name their slots, or with them. Empty when nothing was appended. */
  writes(): Write[]
  /** Records that the writes are stored: the next draft continues from there. */
  stored(): void
}

/** The writer of a process for one list. One draft at a time. */
interface ArrivalList {
  /**
   * Returns the keys to read before a draft. `check` leaves the lane when the store no longer has what this process wrote there: it was
   * emptied or restored, and another process may have begun the same chunk since.
   */
  watched(): { keys: string[]; check(read: Map<string, StoredDocument>): void }
  /** Finds a lane for this process, unless it has one. */
  open(read: Read): Promise<void>
  draft(): ListDraft
  /** Leaves the lane after a draft with an unknown outcome: the next one begins a chunk, which a late write of the last one cannot change. */
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

/** A list that is used again after so many others begins a chunk. More than the works of a batch. */
const maxOpen = 1_000

export function createArrivalLists(now: () => Date): ArrivalLists {
  /** Least recently used first. */
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

/** Ids in a chunk before the next one is begun: rewriting a chunk stays cheap, and a page reads few. */
const chunkSize = 64

interface Place {
  lane: number
  n: number
  /** Undefined for a chunk that this process did not begin. Such a chunk is not changed. */
  chunk: Chunk | undefined
}

/**
 * Creates the writer of a list, newest arrival first, in the state store (Dapr has no query that all stores share): lanes of small chunks
 * under consecutive numbers (docs/adr/0017). Beginning a chunk is create-only, and only the process that began a chunk writes it. So
 * replicas write no shared document, and listing takes no call of its own.
 */
function createArrivalList(now: () => Date, space: string): ArrivalList {
  const by = randomUUID()
  let place: Place | undefined
  /** The key of the newest chunk that this process began. */
  let begun: string | undefined
  let newest = 0

  return {
    watched() {
      const key = begun
      if (!key) return { keys: [], check() {} }
      const check = (read: Map<string, StoredDocument>) => {
        const stored = read.get(key)?.value as Chunk | undefined
        if (key === begun && stored?.by !== by) [place, begun] = [undefined, undefined]
      }
      return { keys: [key], check }
    },

    async open(read) {
      if (place) return
      const { lane, n } = freeLane(await readHeads(read, space), now().getTime())
      place = { lane, n, chunk: undefined }
    },

    draft() {
      if (!place) throw new Error('the list was not opened')
      const { lane } = place
      const own = place.chunk && place.chunk.ids.length < chunkSize ? place.chunk : undefined
      const n = own ? place.n : place.n + 1
      const chunk: Chunk = { by, ids: [...(own?.ids ?? [])], at: [...(own?.at ?? [])] }
      return {
        append(id) {
          newest = Math.max(newest, now().getTime())
          chunk.at.push(newest)
          return slotOf(lane, n, chunk.ids.push(id) - 1)
        },
        writes() {
          if (chunk.ids.length === own?.ids.length || chunk.ids.length === 0) return []
          const written = { key: space + chunkKey(lane, n), value: JSON.stringify(chunk) }
          return own
            ? [written]
            : [
                { ...written, guard: 'absent' },
                { key: space + hintKey(lane), value: String(n) },
              ]
        },
        stored() {
          if (chunk.ids.length === 0) return
          place = { lane, n, chunk }
          begun = space + chunkKey(lane, n)
        },
      }
    },

    leave() {
      place = undefined
    },
  }
}

/** A lane without new entries for so long is considered free. If a process still uses it, one of the two loses a race once. */
const idleMs = 10_000

/**
 * Returns where to begin the next chunk: in an idle lane rather than a new one, since a page reads all lanes; at random, since replicas
 * start together.
 */
function freeLane(heads: Head[], now: number): { lane: number; n: number } {
  const used = new Set(heads.map(({ lane }) => lane))
  const unused = Array.from({ length: laneCount }, (_, lane) => ({ lane, n: -1 })).filter(({ lane }) => !used.has(lane))
  const idle = heads.filter(({ chunk }) => (chunk.at.at(-1) ?? 0) < now - idleMs)
  const candidates = [idle, unused, heads].find(({ length }) => length > 0) as { lane: number; n: number }[]
  return candidates[Math.floor(Math.random() * candidates.length)] as { lane: number; n: number }
}
