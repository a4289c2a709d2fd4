import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { useKeys } from '../data/commands.ts'

/** The name of a column, with the kind of its cells. `unseen`: a name for screen readers only. */
type Column = string | readonly [kind: 'number' | 'whole' | 'unseen', name: string]

interface TableProps<Row> {
  columns: readonly Column[]
  rows: readonly Row[]
  keyOf: (row: Row, index: number) => string | number
  /** Returns the content of a row, by column. */
  cells: (row: Row, index: number) => readonly ComponentChildren[]
  /** Replaces a table without rows. */
  empty?: ComponentChildren
  /** Opens the row that `j` and `k` select. */
  open?: (row: Row) => void
  /** Index of the selected row, if the caller handles the keys. */
  active?: number
  isCurrent?: (row: Row) => boolean
  /** False if each row stays in one line on a narrow screen. */
  isStacked?: boolean
}

export function Table<Row>(props: TableProps<Row>) {
  const { columns, rows, keyOf, cells, empty, open, isCurrent, isStacked = true } = props
  const selected = useActiveRow(open ? rows.length : 0, (index) => open?.(rows[index] as Row))
  const active = props.active ?? selected.value
  if (rows.length === 0 && empty) return empty
  const kinds = columns.map((column) => (typeof column === 'string' ? ['', column] : column))
  return (
    <div class="table-box">
      <table class={isStacked ? 'stacked' : ''}>
        <thead>
          <tr>
            {kinds.map(([kind, name]) => (
              <th key={name} scope="col" class={kind === 'number' ? kind : ''}>
                {kind === 'unseen' ? <span class="only-read">{name}</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr
              key={keyOf(row, index)}
              class={index === active ? 'is-active' : ''}
              aria-current={isCurrent?.(row) ? 'true' : undefined}
            >
              {cells(row, index).map((cell, column) => {
                const [kind, name] = kinds[column] ?? []
                const attributes = kind === 'unseen' ? {} : { 'data-name': name, class: kind }
                return (
                  <td key={name} {...attributes}>
                    {cell}
                  </td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Returns the index of the row that `j` and `k` select, or -1. Enter opens this row. */
export function useActiveRow(count: number, open: (index: number) => void): Signal<number> {
  const active = useSignal(-1)
  const move = (by: number) => () => {
    if (count === 0) return false
    active.value = Math.max(0, Math.min(count - 1, active.value + by))
    // Scrolls to the last active row: if a view has two tables, the lower table receives the keys.
    requestAnimationFrame(() =>
      [...document.querySelectorAll('tr.is-active')].at(-1)?.scrollIntoView({ block: 'nearest' }),
    )
    return true
  }
  useKeys({
    next: move(1),
    previous: move(-1),
    open: () => {
      if (active.value < 0 || active.value >= count) return false
      open(active.value)
      return true
    },
    back: () => {
      if (active.value < 0) return false
      active.value = -1
      return true
    },
  })
  return active
}

/**
 * Returns the size and scroll position of an element, and a function that reads them.
 * @param onRead called after each read
 */
export function useViewport(scroller: RefObject<HTMLElement | null>, onRead?: (element: HTMLElement) => void) {
  const viewport = useSignal({ width: 900, height: 800, top: 0 })
  const read = () => {
    const element = scroller.current
    if (!element) return
    const next = { width: element.clientWidth, height: element.clientHeight, top: element.scrollTop }
    const { width, height, top } = viewport.value
    if (width !== next.width || height !== next.height || top !== next.top) viewport.value = next
    onRead?.(element)
  }
  useLayoutEffect(read, [])
  useEffect(() => {
    const observer = new ResizeObserver(read)
    if (scroller.current) observer.observe(scroller.current)
    return () => observer.disconnect()
  }, [])
  return { viewport: viewport.value, read }
}
