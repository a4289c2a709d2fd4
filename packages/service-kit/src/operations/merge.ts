/** A part of one partition that is yet to be read. */
interface Cursor {
  start: bigint
  end: bigint
}

/**
 * Merges partitions by the timestamps of their records, and never goes against the order of a partition. Chunks are as
 * large as what was fetched allows.
 * @param fetch the next records of each of the cursors, whose `start` it moves on; at least one must move
 */
export async function* mergeByTime<C extends Cursor, T extends { timestamp: number }>(
  cursors: C[],
  fetch: (hungry: C[]) => Promise<T[][]>,
): AsyncGenerator<T[]> {
  const lanes = cursors.map((cursor) => ({ cursor, waiting: [] as T[], next: 0 }))
  const isDry = (lane: (typeof lanes)[number]) => lane.next === lane.waiting.length
  const isOpen = ({ cursor }: (typeof lanes)[number]) => cursor.start < cursor.end

  for (;;) {
    const hungry = lanes.filter((lane) => isDry(lane) && isOpen(lane))
    if (hungry.length > 0) {
      const fetched = await fetch(hungry.map(({ cursor }) => cursor))
      for (const [index, lane] of hungry.entries()) {
        lane.waiting = fetched[index] ?? []
        lane.next = 0
      }
    }
    const chunk: T[] = []
    for (;;) {
      if (lanes.some((lane) => isDry(lane) && isOpen(lane))) break
      const full = lanes.filter((lane) => !isDry(lane))
      if (full.length === 0) break
      const first = full.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a))
      chunk.push(first.waiting[first.next] as T)
      first.next += 1
    }
    if (chunk.length > 0) yield chunk
    else if (!lanes.some(isOpen)) return
  }

  function timeOf({ waiting, next }: (typeof lanes)[number]): number {
    return waiting[next]?.timestamp ?? 0
  }
}
