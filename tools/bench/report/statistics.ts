/** The value below which this share of the values lies (nearest rank); NaN of none. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** The median ratio of two contenders, of each round by itself: what the machine did meanwhile, it did to both. */
export function medianRatio(mine: number[], others: number[]): number {
  return median(mine.map((value, round) => value / (others[round] ?? Number.NaN)))
}

/** The middle of the values; of an even number the mean of the two in the middle; NaN of none. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low = Number.NaN, high = low] = Number.isInteger(middle)
    ? [sorted[middle - 1], sorted[middle]]
    : [sorted[Math.floor(middle)]]
  return (low + high) / 2
}
