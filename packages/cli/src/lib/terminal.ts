import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Colours text for standard output: only on a terminal, and not with NO_COLOR. */
export function paint(style: Style, text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

export function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

/** Prints lines with the seconds since the first call to `timed`. */
export function timed(): (line: string) => void {
  const startedAt = performance.now()
  return (line) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)
    print(`${paint('dim', `${seconds}s`)}  ${line.startsWith('warning:') ? paint('yellow', line) : line}`)
  }
}
