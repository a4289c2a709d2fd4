import type { Rates } from '../../src/api/index.ts'

/** The rate strip: buckets of equal length, the last of which still grows. */
export interface Strip {
  /** Milliseconds: where the first begins, and how long each is. */
  from: number
  step: number
  counts: number[]
  invalid: number[]
}

export const stripOf = ({ from, step, counts, invalid }: Rates): Strip => {
  return { from: Date.parse(from), step: step * 1000, counts: [...counts], invalid: [...invalid] }
}

/** With what came at this moment; old buckets go as new ones begin. */
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

/** For uPlot: seconds, events a second, and of those the ones that are wrong. */
export function plotted(strip: Strip): [number[], number[], number[]] {
  const perSecond = (value: number) => (value * 1000) / strip.step
  return [
    strip.counts.map((_, index) => (strip.from + index * strip.step) / 1000),
    strip.counts.map(perSecond),
    strip.invalid.map(perSecond),
  ]
}
