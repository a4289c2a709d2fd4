/**
 * Merges partitions by the timestamps of their records, and keeps the order within each partition. After a clock was ahead, the times of a partition
 * continue from its latest one. Otherwise the later records of one partition would all come before those of another.
 * @param fetch returns the next records of each cursor and moves the cursor's `start`; at least one cursor must move
 */
export async function* mergeByTime<C extends { start: bigint; end: bigint }, T extends { timestamp: number }>(
  cursors: C[],
  fetch: (empty: C[]) => Promise<T[][]>,
): AsyncGenerator<T[]> {
  const sources = cursors.map((cursor) => ({ cursor, waiting: [] as T[], next: 0, clock: createMergeClock() }))
  const isDry = (source: (typeof sources)[number]) => source.next === source.waiting.length
  const isOpen = ({ cursor }: (typeof sources)[number]) => cursor.start < cursor.end

  for (;;) {
    const empty = sources.filter((source) => isDry(source) && isOpen(source))
    if (empty.length > 0) {
      const fetched = await fetch(empty.map(({ cursor }) => cursor))
      for (const [index, source] of empty.entries()) {
        source.waiting = fetched[index] ?? []
        source.next = 0
      }
    }
    const chunk: T[] = []
    for (;;) {
      if (sources.some((source) => isDry(source) && isOpen(source))) break
      const full = sources.filter((source) => !isDry(source))
      if (full.length === 0) break
      const first = full.reduce((a, b) => (timeOf(b) < timeOf(a) ? b : a))
      first.clock.pass(timestampOf(first))
      chunk.push(first.waiting[first.next] as T)
      first.next += 1
    }
    if (chunk.length > 0) yield chunk
    else if (!sources.some(isOpen)) return
  }

  function timestampOf({ waiting, next }: (typeof sources)[number]): number {
    return waiting[next]?.timestamp ?? 0
  }
  function timeOf(source: (typeof sources)[number]): number {
    return source.clock.timeOf(timestampOf(source))
  }
}

/** Creates the clock of a partition, whose time never goes back. While timestamps are below it, it moves on by their differences. */
function createMergeClock() {
  let latest = Number.NEGATIVE_INFINITY
  let ahead = 0
  const timeOf = (timestamp: number) =>
    timestamp >= latest ? timestamp : Math.max(latest, timestamp + (ahead || latest - timestamp))
  return {
    timeOf,
    pass(timestamp: number): void {
      const time = timeOf(timestamp)
      ahead = timestamp >= latest ? 0 : ahead || time - timestamp
      latest = time
    },
  }
}
