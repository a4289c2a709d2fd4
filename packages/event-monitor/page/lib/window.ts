/** Which rows of a list of equal height are to be drawn, with some on both sides, for what is scrolled to. */
export function windowOf(list: { count: number; rowHeight: number; top: number; height: number; around?: number }) {
  const { count, rowHeight, top, height, around = 8 } = list
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - around))
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + around)
  return { first, end: Math.max(first, end), before: first * rowHeight, total: count * rowHeight }
}

/** Where to scroll to, so that a row is whole in sight; where it was when it is. */
export function scrolledTo(row: number, list: { rowHeight: number; top: number; height: number }): number {
  const { rowHeight, top, height } = list
  const start = row * rowHeight
  if (start < top) return start
  return start + rowHeight > top + height ? start + rowHeight - height : top
}
