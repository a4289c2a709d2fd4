import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { Conversation, Step } from '../../../src/api/index.ts'
import { duration, since } from '../../lib/format.ts'
import {
  barsAcross,
  gutter,
  isRecord,
  type Lifeline,
  lifelineOf,
  notesOf,
  stepsBetween,
  titleOf,
} from '../../lib/lifeline.ts'
import { Breakable } from '../../parts/marks.tsx'
import { useViewport } from '../../parts/tables.tsx'

interface Props {
  conversation: Conversation
  isCompact: boolean
  active: number
  open: (index: number) => void
}

/** Distances from the top of a step to its text, to its line, and to the lines that lead to consumers. */
const [wordsAt, lineAt, consumersAt] = [14, 21, 32]

const kinds = {
  client: 'client',
  time: 'time',
  service: 'service',
  state: 'store',
  topic: 'topic',
  dead: 'dead letters',
  foreign: 'outside',
}

/** Draws the visible part of a conversation. The table has the same content for screen readers. */
export function LifelineView({ conversation, isCompact, active, open }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const { viewport, read } = useViewport(scroller)
  const { width, height, top } = viewport
  const life = useMemo(() => lifelineOf(conversation, width, isCompact), [conversation, width, isCompact])
  useEffect(() => {
    const element = scroller.current
    if (!element || active < 0) return
    const top = life.tops[active] ?? 0
    if (top < element.scrollTop || top > element.scrollTop + element.clientHeight - 120) element.scrollTop = top - 80
  }, [active])
  const xOf = new Map(life.columns.map(({ id, x }) => [id, x]))
  const x = (column: string) => xOf.get(column) ?? gutter
  const [first, end] = stepsBetween(life, top, top + height)
  return (
    <div
      class="lifeline"
      ref={scroller}
      onScroll={read}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keys
      tabIndex={0}
      role="region"
      aria-label="Lifeline. The table has the same content. Use j and k to move, and Enter to open a step."
    >
      <div class="column-heads" aria-hidden="true" style={{ width: `${life.width}px` }}>
        {life.columns.map(({ id, title, kind, x }) => (
          <span
            key={id}
            class={`column-head ${kind}`}
            style={{ left: `${x - life.columnWidth / 2}px`, width: `${life.columnWidth}px` }}
          >
            <small>{kinds[kind]}</small>
            <Breakable text={title} />
          </span>
        ))}
      </div>
      <svg aria-hidden="true" width={life.width} height={life.height} class="drawing">
        <defs>
          {['', '-bad', '-quiet'].map((kind) => (
            <marker
              key={kind}
              id={`head${kind}`}
              class={`head${kind}`}
              viewBox="0 0 8 8"
              refX="8"
              refY="4"
              markerUnits="userSpaceOnUse"
              markerWidth="11"
              markerHeight="11"
              orient="auto-start-reverse"
            >
              <path d="M0 0 8 4 0 8z" />
            </marker>
          ))}
        </defs>
        {life.columns.map((column) => (
          <line key={column.id} class={`column ${column.kind}`} x1={column.x} x2={column.x} y1={0} y2={life.height} />
        ))}
        {barsAcross(conversation.steps, first, end).map(({ column, from, to }) => (
          <line
            key={`${from}-${to}`}
            class="bar-line"
            x1={x(column)}
            x2={x(column)}
            y1={(life.tops[from] ?? 0) + consumersAt}
            y2={(life.tops[to] ?? 0) + lineAt}
          />
        ))}
        {conversation.steps.slice(first, end).map((step, index) => (
          <StepGroup
            key={first + index}
            step={step}
            index={first + index}
            life={life}
            x={x}
            isActive={first + index === active}
            open={open}
          />
        ))}
      </svg>
    </div>
  )
}

interface StepProps {
  step: Step
  index: number
  life: Lifeline
  x: (column: string) => number
  isActive: boolean
  open: (index: number) => void
}

function StepGroup({ step, index, life, x, isActive, open }: StepProps) {
  const top = life.tops[index] ?? 0
  const [from, to] = [x(step.from), x(step.to)]
  const kind =
    step.kind === 'dead-letter' || step.row.validity.includes('invalid') || step.row.validity === 'untrusted'
      ? '-bad'
      : ''
  const notes = notesOf(step)
  const idle = life.idle.get(index)
  const middle = (from + to) / 2
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keyboard users can open a step with Enter, or in the table
    <g class={`step ${step.kind}${isActive ? ' is-active' : ''}`} onClick={() => open(index)}>
      {idle !== undefined && (
        <text class="idle" x={8} y={top - 6}>
          ⋯ {duration(idle)} without events ⋯
        </text>
      )}
      <rect
        class="ground"
        x={0}
        y={top}
        width={life.width}
        height={(life.tops[index + 1] ?? top) - top > 46 ? 46 : (life.tops[index + 1] ?? top) - top}
      />
      <text class="at" x={8} y={top + wordsAt}>
        {index + 1}
      </text>
      <text class="at" x={gutter - 28} y={top + wordsAt} text-anchor="end">
        {!isRecord(step) ? '' : life.times[index] === 0 ? 'start' : since(life.times[index] ?? 0)}
      </text>
      <line
        class={`arrow${kind}${step.duplicateOf === null ? '' : ' is-again'}`}
        x1={from}
        x2={to}
        y1={top + lineAt}
        y2={top + lineAt}
        marker-end={`url(#head${kind})`}
      />
      <text class={`words${kind}`} x={middle} y={top + wordsAt} text-anchor="middle">
        {titleOf(step)}
      </text>
      {step.consumers.map((consumer) => (
        <ConsumerMark
          key={consumer.column}
          topic={to}
          at={x(consumer.column)}
          consumer={consumer}
          y={top + consumersAt}
        />
      ))}
      {notes.length > 0 && (
        <text class="notes" x={gutter - 20} y={top + 43}>
          {notes.map(({ kind, text }) => `${kind === 'warn' ? '! ' : '↻ '}${text}`).join(' · ')}
        </text>
      )}
    </g>
  )
}

interface ConsumerMarkProps {
  topic: number
  at: number
  consumer: Step['consumers'][number]
  y: number
}

/** Draws the line to a consumer and its state: full dot (handled), empty dot (waiting), ✕ (rejected) or ? (unknown). */
function ConsumerMark({ topic, at, consumer: { handled, isRejected }, y }: ConsumerMarkProps) {
  const end = at + (at < topic ? 6 : -6)
  const sign = isRejected ? '✕' : handled === null ? '?' : null
  return (
    <>
      <line class="arrow-quiet" x1={topic} x2={end} y1={y} y2={y} />
      {sign === null ? (
        <circle class={handled ? 'handled' : 'waiting'} cx={at} cy={y} r={4.5} />
      ) : (
        <text class={isRejected ? 'rejected' : 'unknown'} x={at} y={y + 4} text-anchor="middle">
          {sign}
        </text>
      )}
    </>
  )
}
