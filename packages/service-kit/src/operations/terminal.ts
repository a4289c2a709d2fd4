import { type ParseArgsConfig, parseArgs } from 'node:util'

/** Prints lines safely, because they may contain text of outside publishers. */
export function printLines(lines: string[]): void {
  for (const line of lines) process.stdout.write(`${printable(line)}\n`)
}

/** Replaces control characters, and characters that change the direction of text, with visible escape sequences. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/** Returns rows as printable lines. Each column is as wide as its widest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(printable))
  const widths: number[] = []
  for (const row of cells) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, lengthOf(cell))
  }
  const padded = (cell: string, column: number) => cell + ' '.repeat((widths[column] ?? 0) - lengthOf(cell))
  return cells.map((row) => row.map(padded).join('  ').trimEnd())
}

/** Returns the number of visible characters. An é or a flag is one character. */
function lengthOf(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : Array.from(segmenter.segment(text)).length
}

const segmenter = new Intl.Segmenter()

const words: ReadonlyMap<string, boolean> = new Map([
  ...['1', 'yes', 'true'].map((word) => [word, true] as const),
  ...['', '0', 'no', 'false'].map((word) => [word, false] as const),
])

/**
 * Returns true if a word means yes, and false if it means no, as in DRY_RUN=word. Returns undefined for an unknown word. The caller must refuse an
 * unknown word, because a guess could publish events or show personal data.
 */
export function meansYes(word: string): boolean | undefined {
  return words.get(word.trim().toLowerCase())
}

/** An error of an operator's command. `message` states the problem, and `nextStep` states what the operator can do. */
export class OperationError extends Error {
  readonly code = 'operation'
  readonly nextStep: string | undefined
  constructor(message: string, options: { nextStep?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'OperationError'
    this.nextStep = options.nextStep
  }
}

/** Parses the arguments of a command. @throws {OperationError} with the usage as the next step, if an argument is invalid */
export function parseArguments<T extends ParseArgsConfig>(config: T, usage: string): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (cause) {
    throw new OperationError((cause as Error).message, { nextStep: usage, cause })
  }
}
