/** A table for documents. The first column is text, the others are numbers. */
export interface Table {
  title: string
  head: string[]
  rows: string[][]
}

/** A goal of the project, and whether this run reached it. */
export interface Goal {
  what: string
  goal: string
  measured: string
  reached: boolean
}

/** A chart of grouped bars: one group per category, with one bar per series. */
export interface Chart {
  title: string
  unit: string
  categories: string[]
  series: { name: string; values: number[] }[]
  logarithmic?: boolean
}

export interface Findings {
  tables: Table[]
  goals: Goal[]
  figures: unknown
}

export function atLeast(what: string, measured: number, goal: number, digits = 0): Goal {
  return {
    what,
    goal: `>= ${number(goal, digits)}`,
    measured: number(measured, digits),
    reached: Number.isFinite(measured) && measured >= goal,
  }
}

export function atMost(what: string, measured: number, goal: number, digits = 0): Goal {
  return { what, goal: `<= ${number(goal, digits)}`, measured: number(measured, digits), reached: measured <= goal }
}

/** Formats a number as 12,345.6, and an unmeasured value as a dash. */
export function number(value: number, digits = 0): string {
  if (!Number.isFinite(value)) return '-'
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export const mebibytes = (bytes: number) => number(bytes / 2 ** 20)
