import type { Count, Facets } from '../api/events.ts'
import { type Kind, type KindCount, publisherText, typeText, whyText } from './kind.ts'

/** The largest number of values that are counted for a property. */
const maxValues = 50

export function tally(entries: Iterable<readonly [text: string | null, count: number]>): Count[] {
  const sums = new Map<string, number>()
  for (const [text, count] of entries) if (text !== null) sums.set(text, (sums.get(text) ?? 0) + count)
  return [...sums]
    .map(([value, count]) => ({ value, count }))
    .sort((one, other) => other.count - one.count || (one.value < other.value ? -1 : 1))
    .slice(0, maxValues)
}

export function facetsOf(kinds: readonly Pick<KindCount, 'kind' | 'count'>[]): Omit<Facets, 'isAtLeast' | 'complete'> {
  const by = (text: (kind: Kind) => string | null) =>
    tally(kinds.map(({ kind, count }) => [text(kind), count] as const))
  return {
    topic: by(({ topic }) => topic),
    name: by(({ name }) => name),
    type: by(typeText),
    publisher: by(publisherText),
    validity: by(({ validity }) => validity),
    why: by(whyText),
    total: kinds.reduce((sum, { count }) => sum + count, 0),
  }
}
