import { randomUUID } from 'node:crypto'
import type { StoredDocument, Write } from '../sidecar/sidecar.ts'
import { type Chunk, chunkKey, type Head, hintKey, laneCount, readHeads } from './lanes.ts'
import type { Read } from './reader.ts'

/** What one batch adds to the list. */
export interface ListDraft {
  /** Puts an id at the newest end. Answers its slot, which the listed document keeps in `listed`. */
  append(id: string): string
  /** To be stored before the documents that name slots of it, or with them. Empty when nothing was appended. */
  writes(): Write[]
  /** They are stored: the next draft goes on from there. */
  stored(): void
}

/** A process's end of the service's list. One draft at a time. */
export interface ArrivalList {
  /**
   * What is to be read before a draft. `check` leaves the lane when the store has forgotten what this process wrote there: it was emptied,
   * or put back, and somebody else may have begun the same chunk since.
   */
  watched(): { keys: string[]; check(read: Map<string, StoredDocument>): void }
  /** Finds a lane for this process, unless it has one. */
  open(read: Read): Promise<void>
  draft(): ListDraft
  /** A draft may be stored or not: the next one begins a chunk. What comes late changes nothing that is written since. */
  leave(): void
}

/** Ids a chunk holds before the next one is begun: rewriting it stays cheap, and a page reads few. */
const chunkSize = 64

interface Place {
  lane: number
  n: number
  /** Undefined for a chunk that this process did not begin. It is not changed. */
  chunk: Chunk | undefined
}

/**
 * The service's list, newest arrival first, kept in the state store (Dapr has no query that all stores share): lanes of
 * small chunks under consecutive numbers (docs/adr/0017). Beginning a chunk is create-only, and no chunk has another writer than the
 * process that began it. So replicas write nothing in common, and listing takes no call of its own.
 */
export function createArrivalList(now: () => Date): ArrivalList {
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
      const { lane, n } = freeLane(await readHeads(read), now().getTime())
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
          const written = { key: chunkKey(lane, n), value: JSON.stringify(chunk) }
          return own
            ? [written]
            : [
                { ...written, guard: 'absent' },
                { key: hintKey(lane), value: String(n) },
              ]
        },
        stored() {
          if (chunk.ids.length === 0) return
          place = { lane, n, chunk }
          begun = chunkKey(lane, n)
        },
      }
    },

    leave() {
      place = undefined
    },
  }
}

/** The name of an entry's place: `lane:chunk:index`. */
export const slotOf = (lane: number, n: number, index: number): string => `${lane}:${n}:${index}`

/** A lane where nothing was listed for so long is taken to be nobody's. If it is somebody's, one of them loses a race once. */
const idleMs = 10_000

/** Where to begin the next chunk: an idle lane rather than a new one, for a page reads all; at random, since replicas start together. */
function freeLane(heads: Head[], now: number): { lane: number; n: number } {
  const used = new Set(heads.map(({ lane }) => lane))
  const unused = Array.from({ length: laneCount }, (_, lane) => ({ lane, n: -1 })).filter(({ lane }) => !used.has(lane))
  const idle = heads.filter(({ chunk }) => (chunk.at.at(-1) ?? 0) < now - idleMs)
  const candidates = [idle, unused, heads].find(({ length }) => length > 0) as { lane: number; n: number }[]
  return candidates[Math.floor(Math.random() * candidates.length)] as { lane: number; n: number }
}
