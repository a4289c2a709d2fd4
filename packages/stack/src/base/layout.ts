/** The longest line of the formatter. */
const lineWidth = 120

/** Returns JSON in which each list of texts has one line if it fits there, as the formatter writes it. */
export function jsonWithShortLists(value: unknown): string {
  const json = JSON.stringify(value, null, 2)
  return json.replaceAll(/^ *"[^"\n]+": \[\n(?: *"[^"\n]*",?\n)+ *\],?$/gm, (list) => {
    const line = list.replaceAll(/\n */g, ' ').replace('[ ', '[').replace(' ]', ']')
    return line.length > lineWidth ? list : line
  })
}
