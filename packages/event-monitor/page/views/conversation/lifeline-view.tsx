import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import type { Conversation } from '../../../src/api/index.ts'
import { lifelineOf, stepsBetween } from '../../lib/lifeline.ts'
import { Breakable } from '../../parts/marks.tsx'
import { Drawing } from './drawing.tsx'

interface Props {
  conversation: Conversation
  isCompact: boolean
  active: number
  open: (index: number) => void
}

const kinds = {
  client: 'client',
  service: 'service',
  state: 'store',
  topic: 'topic',
  dead: 'dead letters',
  foreign: 'outside',
}

/** The lanes and what goes between them; only what is in sight is drawn. The table says the same to who cannot see it. */
export function LifelineView({ conversation, isCompact, active, open }: Props) {
  const scroller = useRef<HTMLDivElement>(null)
  const size = useSignal({ width: 900, height: 700, top: 0 })
  const life = useMemo(
    () => lifelineOf(conversation, size.value.width, isCompact),
    [conversation, size.value.width, isCompact],
  )
  const read = () => {
    const element = scroller.current
    if (!element) return
    const next = { width: element.clientWidth, height: element.clientHeight, top: element.scrollTop }
    const { width, height, top } = size.value
    if (width !== next.width || height !== next.height || top !== next.top) size.value = next
  }
  useLayoutEffect(read, [])
  useEffect(() => {
    const observer = new ResizeObserver(read)
    if (scroller.current) observer.observe(scroller.current)
    return () => observer.disconnect()
  }, [])
  useEffect(() => {
    const element = scroller.current
    if (!element || active < 0) return
    const top = life.tops[active] ?? 0
    if (top < element.scrollTop || top > element.scrollTop + element.clientHeight - 120) element.scrollTop = top - 80
  }, [active])
  const [first, end] = stepsBetween(life, size.value.top, size.value.top + size.value.height)
  return (
    <div
      class="lifeline"
      ref={scroller}
      onScroll={read}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
      tabIndex={0}
      role="region"
      aria-label="Lifeline. The table says the same in words; j and k move, Enter opens."
    >
      <div class="lane-heads" aria-hidden="true" style={{ width: `${life.width}px` }}>
        {life.lanes.map(({ id, title, kind, x }) => (
          <span
            key={id}
            class={`lane-head ${kind}`}
            style={{ left: `${x - life.laneWidth / 2}px`, width: `${life.laneWidth}px` }}
          >
            <small>{kinds[kind]}</small>
            <Breakable text={title} />
          </span>
        ))}
      </div>
      <Drawing conversation={conversation} life={life} first={first} end={end} active={active} open={open} />
    </div>
  )
}
