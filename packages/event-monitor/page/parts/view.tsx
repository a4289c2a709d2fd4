import { useComputed, useSignal } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import type { Completeness, Gap, Problem } from '../../src/api/index.ts'
import { useTitle } from '../data/announce.ts'
import { refusal } from '../data/api.ts'
import { useLoad } from '../data/load.ts'
import { completeness, connection, perSecond } from '../data/stream.ts'
import { count, counted, rate } from '../lib/format.ts'
import { positionText, type Route } from '../lib/route.ts'
import { unreadableText } from '../lib/words.ts'
import { Answer } from './answers.tsx'
import { State, Time } from './marks.tsx'

export type View<Of extends Route['view'] = Route['view']> = ComponentType<{ route: Extract<Route, { view: Of }> }>

interface AnswerViewProps<Data> {
  title: string
  /** Default: the title. */
  heading?: ComponentChildren
  name?: string
  path: string
  everyMs: number
  /** Describes the number of shown items. */
  shown: (data: Data) => string | undefined
  /** The part between the heading and the answer. */
  above?: (data: Data | null) => ComponentChildren
  below?: ComponentChildren
  /** Replaces the problem if the monitor has no such thing. */
  missing?: ComponentChildren
  children: (data: Data, problem: Problem | null) => ComponentChildren
}

/** A view of one answer of the monitor, which is loaded repeatedly. */
export function AnswerView<Data extends { complete: Completeness }>(props: AnswerViewProps<Data>) {
  const { title, heading = title, name = '', path, everyMs, shown, above, below, missing, children } = props
  useTitle(title)
  const { state, again } = useLoad<Data>(path, everyMs)
  const { data, problem } = state.value
  return (
    <article class={`page ${name}`}>
      <CompletenessLine complete={data?.complete} shown={data ? shown(data) : undefined} />
      <h1>{heading}</h1>
      {above?.(data)}
      {missing && !data && problem?.status === 404 ? (
        missing
      ) : (
        <Answer of={state.value} again={again}>
          {(loaded) => children(loaded, problem)}
        </Answer>
      )}
      {below}
    </article>
  )
}

interface Props {
  /** The completeness of an answer, which is shown until the stream reports a newer one. */
  complete?: Completeness | null | undefined
  /** The number of shown items, such as `50 of 12,345 events`. */
  shown?: string | undefined
}

export function CompletenessLine({ complete, shown }: Props) {
  // Prefers the stream's counters, which are newer than an answer.
  const now = useComputed(() => completeness.value)
  const latest = now.value ?? complete ?? null
  // Adds the answer's gaps, because the stream reports gaps only when it begins.
  const summary =
    latest && complete && complete.gaps.length > latest.gaps.length ? { ...latest, gaps: complete.gaps } : latest
  return (
    <section class="completeness" aria-label="Completeness">
      <ConnectionMark />
      {perSecond.value !== null && (
        <span title="Events per second in the log, averaged over five seconds">{rate(perSecond.value)}</span>
      )}
      {summary && <Lag completeness={summary} />}
      {shown && <span>{shown}</span>}
      {summary && <Kept completeness={summary} />}
      {summary && summary.gaps.length > 0 && (
        <Details kind="warn" summary={`! ${counted(summary.gaps.length, 'gap')}`} items={summary.gaps.map(gapItem)} />
      )}
      {summary && summary.unreadable.length > 0 && (
        <Details
          kind="bad"
          summary={`✕ the monitor cannot read ${counted(summary.unreadable.length, 'partition')}`}
          items={summary.unreadable.map((one) => [unreadableText(one), `${unreadableText(one)}: ${one.why}`])}
        />
      )}
    </section>
  )
}

function ConnectionMark() {
  const { state } = connection.value
  const words = {
    connecting: ['plain', '·', 'connecting'],
    open: ['good', '●', 'live'],
    away: ['plain', '‖', 'paused: the tab was hidden'],
    refused: ['warn', '!', refusal.value ? 'not signed in' : 'not live: the monitor refused the request'],
    lost: ['bad', '✕', 'connection lost, connecting again'],
  } as const
  const [kind, sign, text] = words[state]
  return (
    <span role="status">
      <State kind={kind} sign={sign}>
        {text}
      </State>
    </span>
  )
}

function Lag({ completeness: { indexLag, unreadable, isConnected } }: { completeness: Completeness }) {
  if (!isConnected) return <span class="mark bad">✕ the monitor cannot read the log: this view may be out of date</span>
  if (indexLag === null) return <span class="mark warn">! index lag unknown</span>
  if (indexLag === 0 && unreadable.length > 0) return null
  if (indexLag === 0) return <span title="The index contains every record of the log">index up to date</span>
  return <span class={`mark ${indexLag > 1000 ? 'warn' : 'plain'}`}>index {counted(indexLag, 'record')} behind</span>
}

function Kept({ completeness: { kept, oldestKept } }: { completeness: Completeness }) {
  if (!oldestKept) return <span>no events yet</span>
  return (
    <span title="Older events have been removed from the index">
      {count(kept)} in the index, since <Time iso={oldestKept} />
    </span>
  )
}

interface DetailsProps {
  kind: 'bad' | 'warn'
  summary: string
  items: [key: string, content: ComponentChildren][]
}

const Details = ({ kind, summary, items }: DetailsProps) => (
  <details class="gaps">
    <summary>
      <span class={`mark ${kind}`}>{summary}</span>
    </summary>
    <ul>
      {items.map(([key, content]) => (
        <li key={key}>{content}</li>
      ))}
    </ul>
  </details>
)

const whyGap = {
  truncated: 'deleted from the log before the monitor read them',
  recreated: 'the topic was deleted and created again',
}

const gapItem = (gap: Gap): [string, ComponentChildren] => {
  const from = positionText({ ...gap, offset: gap.from })
  return [from, [`${from} to ${gap.to}: ${whyGap[gap.why]}, detected `, <Time iso={gap.at} />]]
}

export function useMedia(query: string): boolean {
  const holds = useSignal(matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const read = () => {
      holds.value = media.matches
    }
    media.addEventListener('change', read)
    return () => media.removeEventListener('change', read)
  }, [query])
  return holds.value
}
