/**
 * Groups items by key, and keeps their order within each group. An item without a key gets its own group. Handle the items of a group in sequence, and
 * the groups at the same time.
 */
export function groupsByKey<T>(items: readonly T[], keyOf: (item: T) => string | undefined): T[][] {
  const groups: T[][] = []
  const byKey = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = key === undefined ? undefined : byKey.get(key)
    if (group) {
      group.push(item)
      continue
    }
    const begun = [item]
    groups.push(begun)
    if (key !== undefined) byKey.set(key, begun)
  }
  return groups
}
