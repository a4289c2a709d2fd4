import type { EventRow } from '../../src/api/index.ts'
import { positionText } from './route.ts'

/** A line of the list: a row, or a note of rows that came and are not in it. */
export type Line = { row: EventRow } | { leftOut: number; from: string; to: string }

/** More than anybody reads, and some megabytes. */
const most = 2000

/**
 * Rows, newest first, of a stream that shows a part and of pages that go back. Each row once, never more than `most`: what goes is on
 * the side away from the reader.
 */
export class RowBuffer {
  /** Replaced by each change, so that whoever keeps it sees one state. */
  lines: readonly Line[] = []
  #keys = new Set<string>()

  clear(): void {
    this.lines = []
    this.#keys.clear()
  }

  /** @param leftOut how many more there were than these, which have no row */
  addNewer(rows: readonly EventRow[], leftOut: number): void {
    const added: Line[] = this.#fresh(rows).map((row) => ({ row }))
    const last = rows.at(-1) ?? rows[0]
    if (leftOut > 0 && last) added.push({ leftOut, from: last.at, to: rows[0]?.at ?? last.at })
    if (added.length === 0) return
    this.#keep([...joined(added, this.lines)].slice(0, most), added.length + this.lines.length > most)
  }

  /** A page that goes back from the oldest row. */
  addOlder(rows: readonly EventRow[]): void {
    const added: Line[] = this.#fresh(rows).map((row) => ({ row }))
    const all = [...this.lines, ...added]
    this.#keep(all.slice(-most), all.length > most)
  }

  /** When its last row came: where older pages begin. */
  get oldest(): EventRow | undefined {
    return this.lines.findLast((line) => 'row' in line)?.row
  }

  #fresh(rows: readonly EventRow[]): EventRow[] {
    return rows.filter((row) => {
      const key = positionText(row.position)
      if (this.#keys.has(key)) return false
      this.#keys.add(key)
      return true
    })
  }

  #keep(lines: Line[], isCut: boolean): void {
    this.lines = lines
    if (isCut) this.#keys = new Set(lines.flatMap((line) => ('row' in line ? [positionText(line.row.position)] : [])))
  }
}

/** Two notes that meet are one. */
function joined(newer: Line[], older: readonly Line[]): Line[] {
  const [last, first] = [newer.at(-1), older[0]]
  if (!last || !first || 'row' in last || 'row' in first) return [...newer, ...older]
  const one = { leftOut: last.leftOut + first.leftOut, from: first.from, to: last.to }
  return [...newer.slice(0, -1), one, ...older.slice(1)]
}

/** Which rows of a list of equal height are to be drawn, with some on both sides, for what is scrolled to. */
export function windowOf(list: { count: number; rowHeight: number; top: number; height: number; around?: number }) {
  const { count, rowHeight, top, height, around = 8 } = list
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - around))
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + around)
  return { first, end: Math.max(first, end), before: first * rowHeight, total: count * rowHeight }
}

/** Where to scroll to, so that a row is whole in sight; where it was when it is. */
export function scrolledTo(row: number, list: { rowHeight: number; top: number; height: number }): number {
  const { rowHeight, top, height } = list
  const start = row * rowHeight
  if (start < top) return start
  return start + rowHeight > top + height ? start + rowHeight - height : top
}
