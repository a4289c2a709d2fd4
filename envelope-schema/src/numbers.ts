/** Keys that are safe to print; a pointer ends before any other, which may be long, or hold personal data. */
const plainKey = /^\w{1,64}$/

/** Fields of the envelope and of what they hold directly; below that a pointer would only be long. */
const pointerDepth = 2

/**
 * Pointers to where a number is that no 64-bit double can hold: JSON.parse reads 1e400 as Infinity, which would be
 * written back as null. Walks with its own stack, since the nesting of `document` has no limit.
 * @param document straight from JSON.parse: a cycle would never end
 */
export function infiniteNumbers(document: unknown): string[] {
  const pointers = new Set<string>()
  const waiting = [{ value: document, pointer: '', depth: 0 }]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { value, pointer, depth } = next
    if (value === Infinity || value === -Infinity) pointers.add(pointer)
    if (typeof value !== 'object' || value === null) continue
    for (const [key, child] of Object.entries(value)) {
      if (typeof child !== 'object' && typeof child !== 'number') continue
      const named = depth < pointerDepth && plainKey.test(key)
      waiting.push({
        value: child,
        pointer: named ? `${pointer}/${key}` : pointer,
        depth: named ? depth + 1 : pointerDepth,
      })
    }
  }
  return [...pointers]
}
