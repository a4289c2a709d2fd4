import { randomUUID } from 'node:crypto'
import { type Read, SidecarError, type StoredDocument } from '../../sidecar/sidecar.ts'
import type { BatchWriter, Draft } from '../batch-writer.ts'
import { type Bucket, bucketOf } from './buckets.ts'

/** An open deadline in the index. The document decides whether it still exists. */
export interface DueEntry {
  /** The full key of the document, with the prefix of the tenant. */
  key: string
  name: string
  /** Milliseconds since 1970. */
  at: number
}

/** Stands for the entries of a chunk that are not deadlines. It never passes, so the chunk stays in the store. */
export const unreadable: DueEntry = { key: '', name: '', at: Number.NaN }

/** Returns the deadlines of a chunk, and `unreadable` if the chunk has other entries. */
export function entriesIn(chunk: StoredDocument | undefined): DueEntry[] {
  const entries = chunk?.value ?? []
  const valid = Array.isArray(entries) ? entries.filter(isEntry) : []
  return Array.isArray(entries) && valid.length === entries.length ? valid : [...valid, unreadable]
}

const isEntry = (value: unknown): value is DueEntry => {
  const { key, name, at } = Object(value) as Record<string, unknown>
  return typeof key === 'string' && typeof name === 'string' && Number.isFinite(at)
}

/** The bucket of a lane, as `lane/bucket`. Its chunks stay under this name if the bucket goes to another lane. */
export type Place = `${number}/${Bucket}`

/** The numbers of a bucket's chunks: from the first one to before the second one. */
export type Chunks = readonly [from: number, to: number]

/**
 * A part of the index of open deadlines, which only one process writes. This document names the buckets of the lane. The deadlines of a bucket are in
 * chunks, which are written once. If the process ends, another process adds the buckets to its own lane.
 */
export interface Lane {
  /** A random id of the process; empty if no process has the lane. */
  by: string
  /** Changes at least every few seconds while the lane has buckets, so other processes see that its process is alive. */
  beat: number
  buckets: Readonly<Record<Place, Chunks>>
}

/** Returns true for a lane without deadlines. Every process may take it. */
export const isEmpty = (lane: Lane | undefined): boolean => !lane || Object.keys(lane.buckets).length === 0

/** The number of lanes. More processes than lanes cannot have deadlines at the same time. */
const laneCount = 64
export const laneKey = (lane: number): string => `due/${lane}`
export const laneKeys: readonly string[] = Array.from({ length: laneCount }, (_, lane) => laneKey(lane))
export const chunkKey = (place: Place, chunk: number): string => `due/${place}/${chunk}`
export const bucketIn = (place: Place): Bucket => place.slice(place.indexOf('/') + 1)

/** The lane of this process, as part of a batch of writes. */
export type LaneWriter = BatchWriter<Draft & { arm: (entry: DueEntry, notBefore?: number) => void }>

/** The lane of this process. */
interface OwnLane {
  readonly lane: number
  readonly by: string
  beat: number
  etag: string | undefined
  /** The time of its last write; undefined if this process has not written it. */
  storedAt: number | undefined
  readonly buckets: Map<Place, Chunks>
  /** True if the stored document has other buckets. */
  isOutdated: boolean
}

const beatMs = 5_000

/**
 * Creates the lane of a process.
 * @param flush runs a batch without changes, which writes the lane with this key
 */
export function createOwnLane(flush: (key: string) => Promise<void>, now: () => Date, elapsed: () => number) {
  let own: OwnLane | undefined
  /** True if the next batch writes the lane, although it adds no deadline. */
  let isDue = false
  /** The buckets of a batch that was not written. Its chunks may still appear, so their numbers are not used again. */
  let failed: readonly Place[] = []
  const isUnsure = ({ storedAt, etag }: OwnLane) => storedAt !== undefined && etag === undefined

  /** Takes the etag of the lane from a read. Leaves the lane if another process has taken it, or the store lost writes of it. */
  function check(one: OwnLane, found: ReadonlyMap<string, StoredDocument>): void {
    const document = found.get(laneKey(one.lane))
    const stored = document?.value as Lane | undefined
    if (stored?.by !== one.by || stored.beat < one.beat) {
      if (own === one) own = undefined
      return
    }
    one.etag = document?.etag
    if (stored.beat === one.beat) return
    // The store has executed a write that it did not answer.
    one.beat = stored.beat
    for (const [place, [from, to]] of Object.entries(stored.buckets) as [Place, Chunks][]) {
      const known = one.buckets.get(place) ?? [from, to]
      one.buckets.set(place, [Math.max(known[0], from), Math.max(known[1], to)])
    }
  }

  /** Takes a lane that no process uses, if possible one with deadlines. */
  async function take(read: Read): Promise<void> {
    const found = await read([...laneKeys])
    const storedIn = (lane: number) => found.get(laneKey(lane))?.value as Lane | undefined
    const [left, empty] = [[] as number[], [] as number[]]
    for (const lane of laneKeys.keys()) {
      if (isEmpty(storedIn(lane))) empty.push(lane)
      else if (storedIn(lane)?.by === '') left.push(lane)
    }
    const candidates = left.length > 0 ? left : empty
    const lane = candidates[Math.floor(Math.random() * candidates.length)]
    if (lane === undefined) return
    const { beat = 0, buckets = {} } = storedIn(lane) ?? {}
    const etag = found.get(laneKey(lane))?.etag
    own = { lane, by: newId(), beat, etag, storedAt: undefined, buckets: mapOf(buckets), isOutdated: false }
  }

  const writer: LaneWriter = {
    watched() {
      const one = own && isUnsure(own) ? own : undefined
      if (!one) return { keys: [], check() {} }
      const { beat } = one
      return {
        keys: [laneKey(one.lane)],
        check(found) {
          // Another batch may have written the lane since this read.
          if (one.beat === beat) check(one, found)
        },
      }
    },

    async open(read) {
      if (!own) await take(read)
      if (!own || !isUnsure(own)) return
      check(own, await read([laneKey(own.lane)]))
      if (!own) await writer.open(read)
    },

    draft() {
      const one = own
      if (!one) return { arm: noFreeLane, writes: () => [], stored() {} }
      const added = new Map<Place, DueEntry[]>()
      const chunks = new Map<Place, number>()
      let beat = one.beat + 1
      const { etag } = one
      const gaps = new Set(failed)
      let isWritten = false
      // A new bucket begins with a number that no earlier chunk had, because a late removal of such a chunk could remove a new one. So the beat is never
      // below the number of a chunk.
      const nextIn = (place: Place) => (one.buckets.get(place)?.[1] ?? beat) + (gaps.has(place) ? 1 : 0)
      /** Returns a bucket's chunks with the new one. Meanwhile, its earlier chunks may have been removed. */
      const chunksIn = (place: Place, chunk: number): Chunks => [one.buckets.get(place)?.[0] ?? chunk, chunk + 1]
      return {
        arm(entry, notBefore = 0) {
          const place: Place = `${one.lane}/${bucketOf(Math.max(entry.at, notBefore), now().getTime())}`
          const entries = added.get(place)
          if (entries) entries.push(entry)
          else added.set(place, [entry])
        },
        writes() {
          isWritten = added.size > 0 || isDue
          if (!isWritten) return []
          for (const place of added.keys()) chunks.set(place, nextIn(place))
          beat = [...chunks.values()].reduce((most, chunk) => Math.max(most, chunk), beat)
          failed = [...added.keys()]
          const grown = Array.from(chunks, ([place, chunk]) => [place, chunksIn(place, chunk)] as const)
          const lane: Lane = { by: one.by, beat, buckets: Object.fromEntries([...one.buckets, ...grown]) }
          one.isOutdated = false
          return [
            // The guard also proves that no other process has taken the lane.
            { key: laneKey(one.lane), value: JSON.stringify(lane), guard: etag === undefined ? 'absent' : { etag } },
            ...Array.from(chunks, ([place, chunk]) => ({
              key: chunkKey(place, chunk),
              value: JSON.stringify(added.get(place)),
              guard: 'absent' as const,
            })),
          ]
        },
        stored(newEtag) {
          if (!isWritten) return
          for (const [place, chunk] of chunks) one.buckets.set(place, chunksIn(place, chunk))
          Object.assign(one, { beat, etag: newEtag, storedAt: elapsed() })
          ;[failed, isDue] = [[], false]
        },
      }
    },

    // The store may execute the write later. Its guards then fail, or the lane is read again before the next write.
    leave() {
      if (!own) return
      own.isOutdated = true
      if (own.storedAt === undefined) own = undefined
      else own.etag = undefined
    },
  }

  /** Writes the lane, with a batch of its own if no other batch does it. */
  async function store(): Promise<void> {
    if (!own) return
    isDue = true
    await flush(laneKey(own.lane))
  }

  return {
    writer,
    store,
    /** Returns the number of the lane, the id under which this process has it, and its beat; undefined if it has no lane. */
    id: (): Pick<OwnLane, 'lane' | 'by' | 'beat'> | undefined => own,
    buckets: (): ReadonlyMap<Place, Chunks> => own?.buckets ?? new Map(),
    /** Continues a lane that this process has written. */
    adopt(lane: number, { by, beat, buckets }: Lane): void {
      own = { lane, by, beat, etag: undefined, storedAt: elapsed(), buckets: mapOf(buckets), isOutdated: false }
    },
    /** Adds the buckets of another lane. A later process of that lane may have used the same bucket again, with later numbers. */
    add(buckets: Lane['buckets']): void {
      for (const [place, [from, to]] of mapOf(buckets)) {
        const known = own?.buckets.get(place) ?? [from, to]
        own?.buckets.set(place, [Math.min(known[0], from), Math.max(known[1], to)])
      }
    },
    /** Notes that the first chunks of a bucket no longer exist. */
    passed(place: Place, from: number): void {
      const [, to] = own?.buckets.get(place) ?? [0, 0]
      if (from < to) own?.buckets.set(place, [from, to])
      else own?.buckets.delete(place)
      if (own) own.isOutdated = true
    },
    /** Writes the lane if its beat is due. */
    async tell(): Promise<void> {
      if (own?.storedAt === undefined || (own.buckets.size === 0 && !own.isOutdated)) return
      if (elapsed() - own.storedAt >= beatMs) await store()
    },
    leave(): void {
      own = undefined
    },
  }
}

const mapOf = (buckets: Lane['buckets']) => new Map(Object.entries(buckets) as [Place, Chunks][])

export const newId = (): string => randomUUID().slice(0, 8)

function noFreeLane(): never {
  throw new SidecarError('write state', `other replicas use all ${laneCount} lanes of deadlines`)
}
