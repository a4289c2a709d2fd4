/** 45 s, 3 min 20 s, 5 h 12 min, 2 d 3 h. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const units: [number, string][] = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
    [1, 's'],
  ]
  const first = units.findIndex(([size]) => seconds >= size)
  if (first < 0) return '0 s'
  let rest = seconds
  const parts = units.slice(first, first + 2).map(([size, unit]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count > 0 ? `${count} ${unit}` : ''
  })
  return parts.filter(Boolean).join(' ')
}
