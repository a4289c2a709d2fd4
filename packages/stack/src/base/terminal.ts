import { styleText } from 'node:util'
import { table } from '@orderflow/service-kit/setup'
import { withGuidePaths } from './guides.ts'

type Style = Parameters<typeof styleText>[0]

/** Colours text on a terminal, unless NO_COLOR is set. */
export const paint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout })

type Colour = 'bold' | 'green' | 'red' | 'dim'

/** A line in one colour. */
export interface ColouredLine {
  text: string
  colour: Colour
}

/** Returns the lines of a table with a bold header. */
export function colouredTable(header: string[], rows: readonly { cells: string[]; colour: Colour }[]): ColouredLine[] {
  const colours: Colour[] = ['bold', ...rows.map(({ colour }) => colour)]
  return table([header, ...rows.map(({ cells }) => cells)]).map((text, index) => ({
    text,
    colour: colours[index] as Colour,
  }))
}

export function print(line = ''): void {
  process.stdout.write(`${withGuidePaths(line)}\n`)
}

/** Returns a function that prints a line with the seconds since the call of `timed`. */
export function timed(): (line: string) => void {
  const startedAt = performance.now()
  return (line) => {
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)
    print(`${paint('dim', `${seconds}s`)}  ${line.startsWith('warning:') ? paint('yellow', line) : line}`)
  }
}

/** Returns a text such as 45 s, 3 min 20 s, 5 h 12 min or 2 d 3 h. */
export function formatDuration(ms: number): string {
  const sizes = { d: 86_400, h: 3_600, min: 60, s: 1 }
  let rest = Math.floor(ms / 1000)
  const parts = Object.entries(sizes).map(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count > 0 ? `${count} ${unit}` : ''
  })
  const first = parts.findIndex(Boolean)
  return first < 0
    ? '0 s'
    : parts
        .slice(first, first + 2)
        .filter(Boolean)
        .join(' ')
}

export const logLines = 40

export interface LogOptions {
  /** True to print new lines, too, until `signal` aborts. */
  follow: boolean
  signal: AbortSignal
}
