import type { Count, Facets, LiveBatch, Rates } from '../../src/api/index.ts'

/** Adds the counts of a batch to facets. Values keep their order, so that they do not move under the pointer. */
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
  const updated = counts.map(({ value, count }) => {
    const plus = rest.get(value) ?? 0
    rest.delete(value)
    return { value, count: count + plus }
  })
  return [...updated, ...[...rest].map(([value, count]) => ({ value, count }))].slice(0, 50)
}

/** The rate chart's buckets, which have equal lengths. The last bucket still grows. */
export interface Strip {
  /** Start and length of a bucket, in milliseconds. */
  from: number
  step: number
  counts: number[]
  invalid: number[]
}

export const stripOf = ({ from, step, counts, invalid }: Rates): Strip => {
  return { from: Date.parse(from), step: step * 1000, counts: [...counts], invalid: [...invalid] }
}

/** Adds events to the bucket that contains the time `at`. New buckets replace the oldest buckets. */
export function grown(strip: Strip, at: number, matched: number, invalid: number): Strip {
  const index = Math.floor((at - strip.from) / strip.step)
  const over = Math.max(0, index - strip.counts.length + 1)
  const shifted = (values: number[]) =>
    over === 0
      ? [...values]
      : [...values, ...Array<number>(Math.min(over, values.length)).fill(0)].slice(-values.length)
  const next = {
    ...strip,
    from: strip.from + over * strip.step,
    counts: shifted(strip.counts),
    invalid: shifted(strip.invalid),
  }
  const position = index - over
  if (position >= 0 && position < next.counts.length) {
    next.counts[position] = (next.counts[position] ?? 0) + matched
    next.invalid[position] = (next.invalid[position] ?? 0) + invalid
  }
  return next
}

/** Returns data for uPlot: seconds, events per second, invalid events per second. */
export function plotted(strip: Strip): [number[], number[], number[]] {
  const perSecond = (value: number) => (value * 1000) / strip.step
  return [
    strip.counts.map((_, index) => (strip.from + index * strip.step) / 1000),
    strip.counts.map(perSecond),
    strip.invalid.map(perSecond),
  ]
}

const windowMs = 5000

export class RateWindow {
  #samples: { at: number; count: number }[] = []
  add(at: number, count: number): void {
    this.#samples.push({ at, count })
    while ((this.#samples[0]?.at ?? at) < at - windowMs) this.#samples.shift()
  }

  /** Events per second; null during the first second. */
  get perSecond(): number | null {
    const [first, last] = [this.#samples[0], this.#samples.at(-1)]
    if (!first || !last || last.at - first.at < 900) return null
    // Excludes the first sample, because its events arrived before the measured time.
    const sum = this.#samples.reduce((total, { count }) => total + count, -first.count)
    return (sum * 1000) / (last.at - first.at)
  }
}
