import type { Count, Facets, LiveBatch } from '../../src/api/index.ts'

/** Facets with what a batch adds; the order stays until they are asked for anew, so that nothing moves under a pointer. */
export function addedTo(facets: Facets, { added, matched }: Pick<LiveBatch, 'added' | 'matched'>): Facets {
  if (matched === 0) return facets
  return {
    ...facets,
    topic: summed(facets.topic, added.topic),
    type: summed(facets.type, added.type),
    publisher: summed(facets.publisher, added.publisher),
    validity: summed(facets.validity, added.validity),
    total: facets.total + matched,
  }
}

function summed(counts: Count[], more: Count[]): Count[] {
  if (more.length === 0) return counts
  const rest = new Map(more.map(({ value, count }) => [value, count]))
  const known = counts.map(({ value, count }) => {
    const plus = rest.get(value) ?? 0
    rest.delete(value)
    return { value, count: count + plus }
  })
  return [...known, ...[...rest].map(([value, count]) => ({ value, count }))].slice(0, 50)
}
