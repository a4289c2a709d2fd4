/** A parsed event is many times its size: so many bytes are parsed at a time. */
const maxBytes = 2 * 1024 * 1024

/** Cuts a list, in order, so that the values of a slice stay below the limit unless a single one is larger. */
export function slices<T extends { value: Uint8Array }>(all: T[], maxItems = Number.POSITIVE_INFINITY): T[][] {
  const cut: T[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const item of all) {
    bytes += item.value.byteLength
    if (bytes > maxBytes || cut.at(-1)?.length === maxItems) {
      cut.push([])
      bytes = item.value.byteLength
    }
    cut.at(-1)?.push(item)
  }
  return cut
}
