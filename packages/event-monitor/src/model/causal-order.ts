/** How things follow from each other. */
export interface Causality<T> {
  cause: (one: T) => T | undefined
  /** What has an order of its own, such as a partition. */
  lane: (one: T) => string
  offset: (one: T) => number
  time: (one: T) => number
}

/**
 * Things in an order in which each comes after its cause, and after what is before it in its lane. What neither binds is ordered by time.
 * Whoever forges a cause can make a circle: it is cut where the oldest of it is.
 */
export function causalOrder<T>(things: readonly T[], { cause, lane, offset, time }: Causality<T>): T[] {
  const before = new Map<T, number>(things.map((one) => [one, 0]))
  const after = new Map<T, T[]>()
  const bind = (first: T | undefined, second: T) => {
    if (first === undefined || !before.has(first)) return
    before.set(second, (before.get(second) ?? 0) + 1)
    const followers = after.get(first)
    if (followers) followers.push(second)
    else after.set(first, [second])
  }
  for (const one of things) bind(cause(one), one)
  for (const own of Map.groupBy(things, lane).values()) {
    const sorted = own.toSorted((one, other) => offset(one) - offset(other))
    for (const [index, one] of sorted.entries()) bind(sorted[index - 1], one)
  }
  const byTime = (one: T, other: T) => time(one) - time(other)
  const ready = things.filter((one) => before.get(one) === 0).sort(byTime)
  const waiting = new Set(things)
  const ordered: T[] = []
  const take = (one: T) => {
    waiting.delete(one)
    ordered.push(one)
    for (const next of after.get(one) ?? []) {
      const left = (before.get(next) ?? 0) - 1
      before.set(next, left)
      if (left === 0 && waiting.has(next)) insert(ready, next, byTime)
    }
  }
  while (waiting.size > 0) {
    const next = ready.shift()
    if (next === undefined) take(oldestOf(waiting, time))
    else if (waiting.has(next)) take(next)
  }
  return ordered
}

function oldestOf<T>(things: Iterable<T>, time: (one: T) => number): T {
  let oldest: T | undefined
  for (const one of things) if (oldest === undefined || time(one) < time(oldest)) oldest = one
  return oldest as T
}

/** Into a sorted list. */
function insert<T>(sorted: T[], one: T, compare: (one: T, other: T) => number): void {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(sorted[middle] as T, one) <= 0) low = middle + 1
    else high = middle
  }
  sorted.splice(low, 0, one)
}
