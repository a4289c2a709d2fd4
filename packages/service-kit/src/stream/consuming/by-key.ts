/**
 * Groups items by key, and keeps their order within each group. An item without a key gets its own group. Handle the items of a group in sequence, and
 * the groups at the same time.
 */
export function groupsByKey<T>(items: readonly T[], keyOf: (item: T) => string | undefined): T[][] {
  return [...Map.groupBy(items, (item) => keyOf(item) ?? Symbol()).values()]
}
