/** The length of the longest valid name (schemas/common.json). */
const maxLength = 200

export function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[_. -]/g, '')
}

/**
 * Returns a function that finds the known name that a wrong name probably means. The two names may differ in case, separators and one edit.
 */
export function nearMissIn(known: Iterable<string>): (name: string) => string | undefined {
  const names = Array.from(known, (name) => ({ name, folded: fold(name) }))
  return (name) => {
    if (name.length > maxLength) return undefined
    const folded = fold(name)
    const meant =
      names.find((other) => other.folded === folded) ?? names.find((other) => isWithinOneEdit(other.folded, folded))
    return meant?.name
  }
}

/** One edit inserts, deletes, replaces or swaps a character. */
export function isWithinOneEdit(a: string, b: string): boolean {
  if (a.length < b.length) return isWithinOneEdit(b, a)
  let start = 0
  while (start < b.length && a[start] === b[start]) start++
  const same = (fromA: number, fromB: number) => a.slice(start + fromA) === b.slice(start + fromB)
  if (a.length > b.length) return same(1, 0)
  return same(1, 1) || (a[start] === b[start + 1] && a[start + 1] === b[start] && same(2, 2))
}
