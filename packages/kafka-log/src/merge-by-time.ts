/**
 * Merges partitions by the timestamps of their records, and keeps the order within each partition.
 * @param fetch returns the next records of each cursor and moves the cursor's `start`; at least one cursor must move
 */
export async function* mergeByTime<C extends { start: bigint; end: bigint }, T extends { timestamp: number }>(
  cursors: C[],
  fetch: (empty: C[]) => Promise<T[][]>,
): AsyncGenerator<T[]> {
  const sources = cursors.map((cursor) => ({ cursor, timeOf: createClock(), waiting: [] as [T, number][], next: 0 }))
  type Source = (typeof sources)[number]
  const timeOf = ({ waiting, next }: Source) => waiting[next]?.[1] ?? Number.POSITIVE_INFINITY
  const isOpen = ({ cursor }: Source) => cursor.start < cursor.end
  const isDry = (source: Source) => source.next === source.waiting.length && isOpen(source)
  for (;;) {
    const empty = sources.filter(isDry)
    const fetched = empty.length > 0 ? await fetch(empty.map(({ cursor }) => cursor)) : []
    for (const [index, source] of empty.entries()) {
      source.waiting = (fetched[index] ?? []).map((record) => [record, source.timeOf(record.timestamp)])
      source.next = 0
    }
    const chunk: T[] = []
    while (sources.length > 0 && !sources.some(isDry)) {
      const first = sources.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a))
      const [record] = first.waiting[first.next] ?? []
      if (!record) break
      chunk.push(record)
      first.next += 1
    }
    if (chunk.length > 0) yield chunk
    else if (!sources.some(isOpen)) return
  }
}

/**
 * Creates the clock of a partition, whose time never goes back. After a clock was ahead, the times of a partition continue from its latest one, and
 * move on by their differences. Otherwise the later records of one partition would all come before those of another.
 */
export function createClock(): (timestamp: number) => number {
  let latest = Number.NEGATIVE_INFINITY
  let ahead = 0
  return (timestamp) => {
    const isBehind = timestamp < latest
    ahead = isBehind ? ahead || latest - timestamp : 0
    latest = isBehind ? Math.max(latest, timestamp + ahead) : timestamp
    return latest
  }
}
