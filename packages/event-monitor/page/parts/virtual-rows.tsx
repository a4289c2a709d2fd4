import { useSignal } from '@preact/signals'
import type { ComponentChildren, RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { scrolledTo, windowOf } from '../lib/window.ts'

interface Props {
  label: string
  head: ComponentChildren
  count: number
  /** Pixels; every row has it. */
  rowHeight: number
  row: (index: number) => ComponentChildren
  /** The one that keys are about; it is scrolled into sight when it changes. */
  active: number
  idOf: (index: number) => string
  onScroll?: (at: { top: number; isAtEnd: boolean }) => void
  scroller?: RefObject<HTMLDivElement | null>
}

/** A table of which only the rows in sight exist. */
export function VirtualRows(props: Props) {
  const { label, head, count, rowHeight, row, active, idOf, onScroll } = props
  const own = useRef<HTMLDivElement>(null)
  const scroller = props.scroller ?? own
  const place = useSignal({ top: 0, height: 800 })
  const { first, end, before, total } = windowOf({ count, rowHeight, ...place.value })

  const read = () => {
    const element = scroller.current
    if (!element) return
    const { scrollTop, clientHeight, scrollHeight } = element
    place.value = { top: scrollTop, height: clientHeight }
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
