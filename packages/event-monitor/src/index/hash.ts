/** Of FNV-1a, for 32 bits (RFC 9923). */
const [basis, prime] = [0x811c9dc5, 0x01000193]

/**
 * A number of 53 bits for a text: what an id is looked up by, and verified after a hit. FNV-1a once from each end, since ids of some
 * publishers differ in the first few characters or the last few only.
 */
export function hashOf(text: string): number {
  let [forwards, backwards] = [basis, basis]
  for (let index = 0, last = text.length - 1; index <= last; index += 1) {
    forwards = Math.imul(forwards ^ text.charCodeAt(index), prime)
    backwards = Math.imul(backwards ^ text.charCodeAt(last - index), prime)
  }
  return (backwards & 0x1fffff) * 2 ** 32 + (forwards >>> 0)
}
