import { relative } from 'node:path'

export interface Ended {
  file?: string
  duration?: number
  fullTitle(): string
}

const most = 5
const leastMs = 1_000

/** Returns lines with the five slowest files, and the five slowest tests and hooks. Leaves out all that took less than a second. */
export function slowest(ended: readonly Ended[], loadingMs: number): string[] {
  const files = new Map([['(loading the files)', loadingMs]])
  for (const { file = '', duration = 0 } of ended) {
    const name = relative(process.cwd(), file)
    files.set(name, (files.get(name) ?? 0) + duration)
  }
  const steps = ended.map((step): [string, number] => [step.fullTitle(), step.duration ?? 0])
  return [...table('slowest files:', [...files]), ...table('slowest tests and hooks:', steps)]
}

function table(title: string, rows: [name: string, ms: number][]): string[] {
  const slow = rows.filter(([, ms]) => ms >= leastMs).toSorted(([, a], [, b]) => b - a)
  const lines = slow.slice(0, most).map(([name, ms]) => `${(ms / 1_000).toFixed(1).padStart(8)} s  ${name}`)
  return lines.length > 0 ? [title, ...lines] : []
}
