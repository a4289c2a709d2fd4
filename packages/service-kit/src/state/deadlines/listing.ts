import type { Read } from '../../sidecar/sidecar.ts'
import { beginOf } from './buckets.ts'
import {
  bucketIn,
  type Chunks,
  chunkKey,
  type DueEntry,
  entriesIn,
  type Lane,
  laneKeys,
  type Place,
  unreadable,
} from './lanes.ts'

/** A deadline in the index. Its document decides whether it is still open. */
export interface ListedEntry extends DueEntry {
  /** `takeover`: its process has ended. `retry`: it could not be fired at its time. */
  delayedBy: 'takeover' | 'retry' | undefined
}

/** The deadlines of all processes. */
export interface Listing {
  /** Each deadline once, the oldest first. */
  entries: ListedEntry[]
  /** False if the index has more deadlines than one listing reads. The missing ones are later than the others. */
  isWhole: boolean
  /** The time of the log, in milliseconds since 1970. While it is unknown, that of this process. */
  now: number
  /** The reason why no deadline passes now: the time of the log is unknown, or too many fired ones are unhandled. */
  hold: 'clock' | 'lag' | undefined
  /** The number of fired deadlines that the service has not handled; undefined if it is unknown. */
  unhandled: number | undefined
}

/** A listing ends with the chunk that exceeds this number of deadlines. */
const maxListed = 20_000
/** The number of chunks that are read together. */
const readTogether = 100

interface Options {
  read: Read
  scan: Read
  /** Returns true if the process of a lane has ended. */
  hasEnded(lane: number, stored: Lane): boolean
}

/** Reads the index of open deadlines, the part that begins first. */
export async function readIndex({ read, scan, hasEnded }: Options): Promise<Pick<Listing, 'entries' | 'isWhole'>> {
  const lanes = await scan([...laneKeys])
  const chunks = [...laneKeys.entries()]
    .flatMap(([number, key]) => {
      const lane = lanes.get(key)?.value as Lane | undefined
      const isLeft = lane !== undefined && hasEnded(number, lane)
      return Object.entries(lane?.buckets ?? {}).map(([place, range]) => ({ place: place as Place, range, isLeft }))
    })
    .flatMap(({ range: [from, to], ...rest }: { place: Place; range: Chunks; isLeft: boolean }) =>
      Array.from({ length: to - from }, (_, index) => ({ ...rest, key: chunkKey(rest.place, from + index) })),
    )
    .map((chunk) => ({ ...chunk, begin: beginOf(bucketIn(chunk.place)) }))
    .toSorted((a, b) => a.begin - b.begin)
  // A deadline that moves to another bucket is in both for a moment.
  const listed = new Map<string, ListedEntry>()
  let next = 0
  for (; next < chunks.length && listed.size < maxListed; next += readTogether) {
    const some = chunks.slice(next, next + readTogether)
    const found = await read(some.map(({ key }) => key))
    for (const { key, isLeft, begin } of some) {
      for (const entry of entriesIn(found.get(key))) {
        if (entry === unreadable) continue
        const delayedBy = isLeft ? 'takeover' : begin > entry.at ? 'retry' : undefined
        listed.set(`${entry.key} ${entry.name} ${entry.at}`, { ...entry, delayedBy })
      }
    }
  }
  return { entries: [...listed.values()].toSorted((a, b) => a.at - b.at), isWhole: next >= chunks.length }
}
