/** A table as it is shown: the first column is text, the others are figures. */
export interface Table {
  title: string
  head: string[]
  rows: string[][]
}

/** A figure that the project set itself as a goal, and whether this run reached it. */
export interface Goal {
  what: string
  goal: string
  measured: string
  reached: boolean
}

/** Grouped bars: one group per category, one bar in it per series. */
export interface Chart {
  /** Part of the file's name. */
  name: string
  title: string
  /** Of the values. */
  unit: string
  categories: string[]
  series: { name: string; values: number[] }[]
  logarithmic?: boolean
}

/** What one part of the benchmark found out. */
export interface Findings {
  tables: Table[]
  goals: Goal[]
  charts: Chart[]
  /** All that was measured, for whoever wants to reckon with it. */
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

/** 12,345.6; a dash for what was not measured. */
export function number(value: number, digits = 0): string {
  if (!Number.isFinite(value)) return '-'
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

export const mebibytes = (bytes: number) => number(bytes / 2 ** 20)
