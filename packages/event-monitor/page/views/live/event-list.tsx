import { useComputed, useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import type { EventFilter, EventRow } from '../../../src/api/index.ts'
import { useKeys } from '../../data/commands.ts'
import { go } from '../../data/location.ts'
import { searchOf } from '../../lib/filters.ts'
import { count } from '../../lib/format.ts'
import { hrefs, isNote, positionText } from '../../lib/route.ts'
import { type Line, scrolledTo, windowOf } from '../../lib/rows.ts'
import { Empty, TryDemo } from '../../parts/answers.tsx'
import { ConversationLink, PositionLink, publisherOf, Time, TypeName, ValidityMark } from '../../parts/marks.tsx'
import { useViewport } from '../../parts/tables.tsx'
import { useMedia } from '../../parts/view.tsx'
import type { LiveSession } from './session.ts'

/** Pixels. */
const headHeight = 28

const columns = ['Time', 'Event', 'Validity', 'Publisher', 'Record', 'Conversation']

interface ListProps {
  session: LiveSession
  filter: EventFilter
}

export const EventList = ({ session, filter }: ListProps) =>
  session.isReady.value && session.lines.value.length === 0 ? (
    <Nothing isFiltered={Object.keys(filter).length > 0} />
  ) : (
    <Rows session={session} filter={filter} />
  )

function Rows({ session, filter }: ListProps) {
  const isNarrow = useMedia('(max-width: 800px)')
  const scroller = useRef<HTMLDivElement>(null)
  /** The position of the active row. The row stays active while other rows arrive. */
  const chosen = useSignal<string | null>(null)
  const lines = session.lines.value
  const active = useComputed(() => {
    const wanted = chosen.value
    return wanted === null
      ? -1
      : session.lines.value.findIndex((line) => 'row' in line && positionText(line.row.position) === wanted)
  })
  const wasStoppedByPointer = useRef(false)
  const rowAt = (index: number): EventRow | undefined => {
    const line = session.lines.value[index]
    return line && 'row' in line ? line.row : undefined
  }
  const move = (by: number) => {
    const count = session.lines.value.length
    for (let index = active.value + by; index >= 0 && index < count; index += by) {
      const row = rowAt(index)
      if (!row) continue
      session.stop()
      wasStoppedByPointer.current = false
      chosen.value = positionText(row.position)
      if (index > count - 10) void session.goBack()
      break
    }
    return true
  }
  const onActive = (act: (row: EventRow) => void) => () => {
    const row = rowAt(active.value)
    if (row) act(row)
    return row !== undefined
  }
  useKeys({
    next: () => move(1),
    previous: () => move(-1),
    open: onActive((row) => go(hrefs.event(row.position))),
    conversation: onActive((row) => {
      if (!isNote(row)) go(hrefs.conversation(row.correlationId))
    }),
    back: () => {
      if (chosen.value === null) return false
      chosen.value = null
      return true
    },
  })
  const rowHeight = isNarrow ? 58 : 30
  const { viewport, read } = useViewport(scroller, ({ scrollTop, clientHeight, scrollHeight }) => {
    if (scrollTop > 4) session.stop()
    else if (!wasStoppedByPointer.current && chosen.value === null && !scroller.current?.matches(':hover'))
      session.goOn()
    if (scrollTop > 4 && scrollTop + clientHeight > scrollHeight - 600) void session.goBack()
  })
  const { first, end, before, total } = windowOf({ count: lines.length, rowHeight, ...viewport })
  useLayoutEffect(() => {
    const element = scroller.current
    if (!element || active.value < 0) return
    const height = element.clientHeight - headHeight
    element.scrollTop = scrolledTo(active.value, { rowHeight, top: element.scrollTop, height })
  }, [active.value])
  return (
    <div
      class="list"
      onPointerEnter={({ pointerType }) => {
        if (pointerType !== 'mouse' || session.waiting.value !== null) return
        session.stop()
        wasStoppedByPointer.current = true
      }}
      onPointerLeave={() => {
        if (wasStoppedByPointer.current && (scroller.current?.scrollTop ?? 0) < 4) session.goOn()
        wasStoppedByPointer.current = false
      }}
    >
      <div
        class="grid"
        role="grid"
        aria-label="Events, newest first"
        aria-rowcount={lines.length + 1}
        aria-activedescendant={active.value >= first && active.value < end ? `row-${active.value}` : undefined}
        tabIndex={0}
        ref={scroller}
        onScroll={read}
      >
        <div class="grid-head" role="rowgroup">
          <div class="event-row head" role="row">
            {columns.map((column) => (
              <span key={column} role="columnheader">
                {column}
              </span>
            ))}
          </div>
        </div>
        <div class="grid-body" role="rowgroup" style={{ height: `${total}px` }}>
          <div class="grid-rows" role="presentation" style={{ transform: `translateY(${before}px)` }}>
            {lines.slice(first, end).map((line, index) => (
              <LineRow line={line} index={first + index} isActive={first + index === active.value} filter={filter} />
            ))}
          </div>
        </div>
      </div>
      {session.older.value === 'loading' && <p class="list-foot">Loading older events…</p>}
      {session.older.value === 'end' && session.isReady.value && (
        <p class="list-foot">The index has no older events{Object.keys(filter).length > 0 && ' for these filters'}.</p>
      )}
    </div>
  )
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <Empty title="No events yet.">
        <TryDemo />
      </Empty>
    )
  }
  return (
    <Empty title="No events match these filters.">
      <p>
        New matching events appear here. <a href="/">Clear filters</a>
      </p>
    </Empty>
  )
}

interface Props {
  line: Line
  index: number
  isActive: boolean
  filter: EventFilter
}

function LineRow({ line, index, isActive, filter }: Props) {
  const attributes = { 'aria-rowindex': index + 2, id: `row-${index}` }
  if (!('row' in line)) {
    const to = new Date(Date.parse(line.to) + 1).toISOString()
    return (
      <div class="event-row note" role="row" {...attributes}>
        <span role="gridcell">
          {count(line.leftOut)} more events in this time:{' '}
          <a href={`/${searchOf({ ...filter, from: line.from, to })}`}>show all</a>
        </span>
      </div>
    )
  }
  const { row } = line
  const { position, name, problem, validity, correlationId } = row
  const what = (
    <>
      <TypeName row={row} />
      {problem && (
        <span class="why">
          {' '}
          {problem.pointer || ''} {problem.message}
        </span>
      )}
    </>
  )
  const cells = [
    ['at', <Time iso={row.at} isClock />],
    ['what', what, name ?? undefined],
    ['validity', <ValidityMark validity={validity} />],
    ['who', publisherOf(row), publisherOf(row)],
    ['where', <PositionLink position={position} />],
    ['conversation', !isNote(row) && <ConversationLink id={correlationId} />],
  ] as const
  const open = (event: MouseEvent) => {
    if ((event.target as Element).closest('a') || getSelection()?.type === 'Range') return
    go(hrefs.event(position))
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keyboard users can open the active row with Enter, or follow its link
    <div
      class={`event-row${isActive ? ' is-active' : ''}`}
      role="row"
      {...attributes}
      aria-selected={isActive}
      onClick={open}
    >
      {cells.map(([name, content, title]) => (
        <span key={name} role="gridcell" class={name} title={title}>
          {content}
        </span>
      ))}
    </div>
  )
}
