/** The longest name that a rule of the contract allows (schemas/common.json). */
const maxLength = 200

/** Returns a name without case and separators: `appId`, `app_id` and `APPID` are the same. */
export function fold(name: string): string {
  return name.toLowerCase().replaceAll(/[_. -]/g, '')
}

/**
 * Returns a function that finds the name of `known` that another name probably means. Two names match if they differ only in case and
 * separators, or also by one edit. Each search takes time in proportion to the name's length.
 * @returns a function that returns the known name, or undefined; a known name matches itself
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

/** Returns true if one inserted, deleted, replaced or swapped character makes `a` and `b` equal. */
export function isWithinOneEdit(a: string, b: string): boolean {
  if (a.length < b.length) return isWithinOneEdit(b, a)
  let start = 0
  while (start < b.length && a[start] === b[start]) start++
  const same = (fromA: number, fromB: number) => a.slice(start + fromA) === b.slice(start + fromB)
  if (a.length > b.length) return same(1, 0)
  return same(1, 1) || (a[start] === b[start + 1] && a[start + 1] === b[start] && same(2, 2))
}
