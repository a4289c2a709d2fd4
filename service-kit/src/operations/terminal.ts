/** Prints lines that may hold what others wrote. */
export function printLines(lines: string[]): void {
  for (const line of lines) process.stdout.write(`${printable(line)}\n`)
}

/** Text that others wrote, for a terminal: its control and direction characters are shown, not obeyed. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** Lines of aligned columns. */
export function table(rows: string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}
