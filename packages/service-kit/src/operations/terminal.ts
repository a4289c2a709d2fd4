/** Prints lines that may hold what others wrote. */
export function printLines(lines: string[]): void {
  for (const line of lines) process.stdout.write(`${printable(line)}\n`)
}

/** Text that others wrote, for a terminal: its control and direction characters are shown, not obeyed. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** Rows as printable lines, their columns as wide as the widest cell; the first row is usually a header. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(printable))
  const widths: number[] = []
  for (const row of cells) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, lengthOf(cell))
  }
  const padded = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - lengthOf(cell))
  return cells.map((row) => row.map(padded).join('  ').trimEnd())
}

/** In characters as a reader counts them: an accent or a flag is no more than one. A list may have very many cells. */
function lengthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : Array.from(segmenter.segment(text)).length
}

const segmenter = new Intl.Segmenter()

const words: ReadonlyMap<string, boolean> = new Map([
  ...['1', 'yes', 'true'].map((word) => [word, true] as const),
  ...['', '0', 'no', 'false'].map((word) => [word, false] as const),
])

/**
 * Whether who writes DRY_RUN=word means yes, in either case. Undefined for a word that is neither yes nor no, which is to
 * be refused: a guess would publish, or show personal data, against the operator's will.
 */
export function meansYes(word: string): boolean | undefined {
  return words.get(word.trim().toLowerCase())
}
