/** Returns a percentile (nearest rank), or NaN without values. The share is between 0 and 1. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** Divides `mine` by `others` for each round, and returns the median of these ratios. */
export function medianRatio(mine: number[], others: number[]): number {
  return median(mine.map((value, round) => value / (others[round] ?? Number.NaN)))
}

/** Returns the median, or NaN without values. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low = Number.NaN, high = low] = Number.isInteger(middle)
    ? [sorted[middle - 1], sorted[middle]]
    : [sorted[Math.floor(middle)]]
  return (low + high) / 2
}

/** Returns the median of a figure of all samples. */
export const medianOf = <Sample>(samples: Sample[], figure: (sample: Sample) => number): number =>
  median(samples.map(figure))

/** Returns the number of failed requests in all samples. */
export const failuresIn = (samples: { failed: number }[]): number =>
  samples.reduce((sum, { failed }) => sum + failed, 0)
