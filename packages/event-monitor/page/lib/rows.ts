import type { EventRow } from '../../src/api/index.ts'
import { positionText } from './route.ts'

/** A row, or a note about omitted rows. */
export type Line = { row: EventRow } | { leftOut: number; from: string; to: string }

/** The maximum number of lines, to limit memory. */
const most = 2000

/**
 * Rows of the stream and of older pages, newest first. If there are more than `most`, new rows displace the rows at the
 * opposite end.
 */
export class RowBuffer {
  /** Each change replaces this array, so readers see a consistent state. */
  lines: readonly Line[] = []
  #keys = new Set<string>()

  clear(): void {
    this.lines = []
    this.#keys.clear()
  }

  /** @param leftOut number of new events that are not among `rows` */
  addNewer(rows: readonly EventRow[], leftOut: number): void {
    const added: Line[] = this.#fresh(rows).map((row) => ({ row }))
    const last = rows.at(-1) ?? rows[0]
    if (leftOut > 0 && last) added.push({ leftOut, from: last.at, to: rows[0]?.at ?? last.at })
    if (added.length === 0) return
    this.#keep([...joined(added, this.lines)].slice(0, most), added.length + this.lines.length > most)
  }

  addOlder(rows: readonly EventRow[]): void {
    const added: Line[] = this.#fresh(rows).map((row) => ({ row }))
    const all = [...this.lines, ...added]
    this.#keep(all.slice(-most), all.length > most)
  }

  /** The oldest row. The next page of older rows begins after it. */
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

/** Joins two lists of lines. Merges two notes that become adjacent. */
function joined(newer: Line[], older: readonly Line[]): Line[] {
  const [last, first] = [newer.at(-1), older[0]]
  if (!last || !first || 'row' in last || 'row' in first) return [...newer, ...older]
  const one = { leftOut: last.leftOut + first.leftOut, from: first.from, to: last.to }
  return [...newer.slice(0, -1), one, ...older.slice(1)]
}

/** Returns the range of the visible rows, with some rows above and below. */
export function windowOf(list: { count: number; rowHeight: number; top: number; height: number; around?: number }) {
  const { count, rowHeight, top, height, around = 8 } = list
  const first = Math.max(0, Math.min(count, Math.floor(top / rowHeight) - around))
  const end = Math.min(count, Math.ceil((top + height) / rowHeight) + around)
  return { first, end: Math.max(first, end), before: first * rowHeight, total: count * rowHeight }
}

export function scrolledTo(row: number, list: { rowHeight: number; top: number; height: number }): number {
  const { rowHeight, top, height } = list
  const start = row * rowHeight
  if (start < top) return start
  return start + rowHeight > top + height ? start + rowHeight - height : top
}
