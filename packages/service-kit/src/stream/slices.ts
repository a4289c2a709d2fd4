/** A parsed event is many times its size: so many bytes are parsed at a time. */
const maxBytes = 2 * 1024 * 1024

/** Cuts a list, in order, so that the values of a slice stay below the limit unless a single one is larger. */
export function slices<T extends { value: Uint8Array }>(all: T[], maxItems = Number.POSITIVE_INFINITY): T[][] {
  const cut: T[][] = []
  let bytes = 0
  for (const item of all) {
    bytes += item.value.byteLength
    const last = cut.at(-1)
    if (last && last.length < maxItems && bytes <= maxBytes) {
      last.push(item)
    } else {
      cut.push([item])
      bytes = item.value.byteLength
    }
  }
  return cut
}
