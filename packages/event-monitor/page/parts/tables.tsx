import { useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { useKeys } from '../data/commands.ts'
import { scrolledTo, windowOf } from '../lib/rows.ts'

/** The name of a column. `number`: a column of right-aligned numbers; `unseen`: a name for screen readers only. */
type Column = string | { number: string } | { unseen: string }

export function Columns({ of }: { of: readonly Column[] }) {
  return (
    <thead>
      <tr>{of.map(headOf)}</tr>
    </thead>
  )
}

function headOf(column: Column) {
  if (typeof column === 'string') return <th scope="col">{column}</th>
  if ('unseen' in column) {
    return (
      <th scope="col">
        <span class="only-read">{column.unseen}</span>
      </th>
    )
  }
  return (
    <th scope="col" class="number">
      {column.number}
    </th>
  )
}

/** Returns the index of the row that `j` and `k` select, or -1. Enter opens this row. */
export function useActiveRow(count: number, open: (index: number) => void): number {
  const active = useSignal(-1)
  const move = (by: number) => () => {
    active.value = Math.max(0, Math.min(count - 1, active.value + by))
    // Scrolls to the last active row: if a view has two tables, the lower table receives the keys.
    requestAnimationFrame(() =>
      [...document.querySelectorAll('tr.is-active')].at(-1)?.scrollIntoView({ block: 'nearest' }),
    )
    return count > 0
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
  return active.value
}

interface Props {
  label: string
  head: ComponentChildren
  count: number
  /** Pixels. */
  rowHeight: number
  row: (index: number) => ComponentChildren
  active: number
  idOf: (index: number) => string
  onScroll?: (at: { top: number; isAtEnd: boolean }) => void
  scroller?: RefObject<HTMLDivElement | null>
}

export function VirtualRows(props: Props) {
  const { label, head, count, rowHeight, row, active, idOf, onScroll } = props
  const own = useRef<HTMLDivElement>(null)
  const scroller = props.scroller ?? own
  const viewport = useSignal({ top: 0, height: 800 })
  const { first, end, before, total } = windowOf({ count, rowHeight, ...viewport.value })

  const read = () => {
    const element = scroller.current
    if (!element) return
    const { scrollTop, clientHeight, scrollHeight } = element
    viewport.value = { top: scrollTop, height: clientHeight }
    onScroll?.({ top: scrollTop, isAtEnd: scrollTop + clientHeight > scrollHeight - 600 })
  }
  useEffect(() => {
    const observer = new ResizeObserver(read)
    if (scroller.current) observer.observe(scroller.current)
    return () => observer.disconnect()
  }, [])
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element || active < 0) return
    const height = element.clientHeight - headHeight
    element.scrollTop = scrolledTo(active, { rowHeight, top: element.scrollTop, height })
  }, [active])

  return (
    <div
      class="grid"
      role="grid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-activedescendant={active >= first && active < end ? idOf(active) : undefined}
      tabIndex={0}
      ref={scroller}
      onScroll={read}
    >
      <div class="grid-head" role="rowgroup">
        {head}
      </div>
      <div class="grid-body" role="rowgroup" style={{ height: `${total}px` }}>
        <div class="grid-rows" role="presentation" style={{ transform: `translateY(${before}px)` }}>
          {Array.from({ length: end - first }, (_, index) => row(first + index))}
        </div>
      </div>
    </div>
  )
}

const headHeight = 28
