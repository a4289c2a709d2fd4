import type { Read } from './reader.ts'

/** More writers than this share lanes, which costs each of them a lost race now and then, and nothing else. */
export const laneCount = 16
/**
 * Holds the number of the lane's newest chunk, as it was when that was begun: one ahead where the beginning failed, and behind what
 * others began since. So readers look around it.
 */
export const hintKey = (lane: number): string => `list/${lane}`
export const chunkKey = (lane: number, n: number): string => `list/${lane}/${n}`

/** Ids in order of arrival, and when each arrived: milliseconds since 1970, never falling. */
export interface Chunk {
  /** The process that began it, and alone adds to it. */
  by: string
  ids: string[]
  at: number[]
}

/** A lane's newest chunk. */
export interface Head {
  lane: number
  n: number
  chunk: Chunk
}

/** The newest chunk of every lane that has one: two bulk reads, and one more for lanes whose hint is far behind. */
export async function readHeads(read: Read): Promise<Head[]> {
  const lanes = Array.from({ length: laneCount }, (_, lane) => lane)
  const hints = await read(lanes.map(hintKey))
  const heads: (Head | undefined)[] = []
  let open = lanes.map((lane) => {
    const hint = (hints.get(hintKey(lane))?.value as number | undefined) ?? 0
    return { lane, next: Math.max(0, hint - 1) }
  })
  for (let window = 3; open.length > 0; window *= 2) {
    const found = await read(open.flatMap(({ lane, next }) => range(next, window).map((n) => chunkKey(lane, n))))
    open = open.filter(({ lane, next }) => {
      for (const n of range(next, window)) {
        const chunk = found.get(chunkKey(lane, n))?.value as Chunk | undefined
        if (chunk) heads[lane] = { lane, n, chunk }
      }
      return heads[lane]?.n === next + window - 1
    })
    for (const lane of open) lane.next += window
  }
  return heads.filter((head) => head !== undefined)
}

const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index)
