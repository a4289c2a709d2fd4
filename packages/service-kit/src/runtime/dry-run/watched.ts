/**
 * Returns a copy with getters, which report the pointer of each value that is not an object. A proxy could not be cloned.
 * @param onRead receives the JSON pointers, below `pointer`; in the objects of a list, `*` is the index
 */
export const watched = <T>(value: T, pointer: string, onRead: (pointer: string) => void): T =>
  copyOf(value, pointer, onRead) as T

function copyOf(value: unknown, pointer: string, onRead: (pointer: string) => void): unknown {
  if (Array.isArray(value)) return value.map((item) => copyOf(item, `${pointer}/*`, onRead))
  if (typeof value !== 'object' || value === null) return value
  const copy = {}
  for (const [name, inner] of Object.entries(value)) {
    const place = `${pointer}/${name}`
    const result = copyOf(inner, place, onRead)
    const get = () => {
      if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) onRead(place)
      return result
    }
    Object.defineProperty(copy, name, { enumerable: true, get })
  }
  return copy
}
