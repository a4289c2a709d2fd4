/** Returns the value at this share of the sorted values (nearest rank), or NaN. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** Returns the median of the ratios of single rounds. */
export function medianRatio(mine: number[], others: number[]): number {
  return median(mine.map((value, round) => value / (others[round] ?? Number.NaN)))
}

/** Returns the middle value, the mean of the two middle values, or NaN. */
export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low = Number.NaN, high = low] = Number.isInteger(middle)
    ? [sorted[middle - 1], sorted[middle]]
    : [sorted[Math.floor(middle)]]
  return (low + high) / 2
}
