export interface Tally {
  add(what: string): void
  counts(): Record<string, number>
}

export function createTally(): Tally {
  const counts = new Map<string, number>()
  return {
    add: (what) => void counts.set(what, (counts.get(what) ?? 0) + 1),
    counts: () => Object.fromEntries([...counts].sort(([a], [b]) => a.localeCompare(b))),
  }
}
