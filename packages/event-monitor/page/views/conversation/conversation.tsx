import { parseGuid } from '@orderflow/envelope-schema/inputs'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Conversation, type ConversationsOf, paths } from '../../../src/api/index.ts'
import { useKeys } from '../../data/commands.ts'
import { useLoad } from '../../data/load.ts'
import { go, path, search } from '../../data/location.ts'
import { useTitle } from '../../data/title.ts'
import { count, counted, duration } from '../../lib/format.ts'
import { isRecord } from '../../lib/lifeline.ts'
import { hrefs } from '../../lib/route.ts'
import { Answer, Empty } from '../../parts/answers.tsx'
import { PlaceLink, Time } from '../../parts/marks.tsx'
import { TruthLine } from '../../parts/truth-line.tsx'
import type { View } from '../../parts/view.ts'
import { LifelineView } from './lifeline-view.tsx'
import { SidePanel } from './side-panel.tsx'
import { StepTable } from './step-table.tsx'

/** All that belongs together, as arrows between those who took part, or as a table. */
export const ConversationView: View<'conversation'> = ({ route: { correlationId } }) => {
  useTitle(`Conversation ${correlationId.slice(0, 8)}`)
  const { state, again } = useLoad<Conversation>(paths.conversation(correlationId), 5000)
  const { data } = state.value
  return (
    <article class="page conversation">
      <TruthLine
        complete={data?.complete}
        shown={
          data ? `${count(data.steps.filter(isRecord).length)} of ${counted(data.total, 'record')} shown` : undefined
        }
      />
      <h1>
        Conversation <span class="id">{correlationId}</span>
      </h1>
      {!data && state.value.problem?.status === 404 ? (
        <OtherConversations guid={correlationId} />
      ) : (
        <Answer of={state.value} again={again}>
          {(found) => <Steps conversation={found} />}
        </Answer>
      )}
    </article>
  )
}

const setParam = (name: string, value: string | null) => {
  const params = new URLSearchParams(search.value)
  if (value === null) params.delete(name)
  else params.set(name, value)
  const text = params.toString()
  go(path.value + (text && `?${text}`), 'replace')
}

function Steps({ conversation }: { conversation: Conversation }) {
  const { steps, total } = conversation
  const params = new URLSearchParams(search.value)
  const isTable = params.get('as') === 'table'
  const isWide = params.get('time') === 'wide'
  const active = useSignal(-1)
  const opened = useSignal<number | null>(null)
  const move = (by: number) => () => {
    active.value = Math.max(0, Math.min(steps.length - 1, active.value + by))
    if (opened.value !== null) opened.value = active.value
    return true
  }
  const open = (index: number) => {
    active.value = index
    opened.value = index
  }
  useKeys({
    next: move(1),
    previous: move(-1),
    open: () => {
      if (active.value < 0) return false
      opened.value = active.value
      return true
    },
    back: () => {
      if (opened.value === null && active.value < 0) return false
      if (opened.value !== null) opened.value = null
      else active.value = -1
      return true
    },
  })
  const [first, last] = steps.reduce(
    ([least, most], { row }) => [Math.min(least, Date.parse(row.at)), Math.max(most, Date.parse(row.at))],
    [Infinity, -Infinity],
  )
  const records = steps.filter(isRecord).length
  const failures = steps.filter(({ kind }) => kind === 'dead-letter').length
  const shown = opened.value === null ? undefined : steps[opened.value]
  return (
    <>
      <div class="actions">
        <span role="group" aria-label="Shown as">
          <button type="button" aria-pressed={!isTable} onClick={() => setParam('as', null)}>
            Lifeline
          </button>{' '}
          <button type="button" aria-pressed={isTable} onClick={() => setParam('as', 'table')}>
            Table
          </button>
        </span>
        {!isTable && (
          <button
            type="button"
            aria-pressed={!isWide}
            onClick={() => setParam('time', isWide ? null : 'wide')}
            title="Times in which nothing happens take a line"
          >
            Compact
          </button>
        )}
        <span class="quiet">
          took {duration(last - first)}
          {failures > 0 && <span class="mark bad"> · ✕ {counted(failures, 'dead letter')}</span>}
        </span>
        {!isTable && (
          <span class="legend">
            <span class="dot is-handled" aria-hidden="true" /> handled <span class="dot" aria-hidden="true" /> not yet{' '}
            <span class="mark bad" aria-hidden="true">
              ✕
            </span>{' '}
            set aside <span aria-hidden="true">?</span> not known
          </span>
        )}
        {total > records && (
          <span class="mark warn">
            ! the oldest {count(records)} of {count(total)} are shown
          </span>
        )}
      </div>
      <div class={shown ? 'with-panel' : ''}>
        {isTable ? (
          <StepTable conversation={conversation} active={active.value} open={open} />
        ) : (
          <LifelineView conversation={conversation} isCompact={!isWide} active={active.value} open={open} />
        )}
        {shown && <SidePanel place={shown.row.place} close={() => (opened.value = null)} />}
      </div>
    </>
  )
}

/** An Id or another GUID may lead to one. */
function OtherConversations({ guid }: { guid: string }) {
  const { state, again } = useLoad<ConversationsOf>(
    parseGuid(guid) ? `${paths.conversations}?guid=${encodeURIComponent(guid)}` : null,
  )
  const [only, second] = state.value.data?.items ?? []
  useEffect(() => {
    if (only && !second && only.correlationId !== guid) go(hrefs.conversation(only.correlationId), 'replace')
  }, [only])
  if (!parseGuid(guid)) return <Empty title="This is no GUID, so no conversation has it." />
  return (
    <Answer of={state.value} again={again}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="Nothing that is kept belongs to this conversation.">
            <p>
              It may be older than what is kept, or not there yet. Begin one: <code>make demo</code>
            </p>
          </Empty>
        ) : (
          <>
            <p>No conversation has this as its CorrelationId. It stands in events of:</p>
            <ul>
              {items.map(({ correlationId, events, from, first }) => (
                <li key={correlationId}>
                  <a class="id" href={hrefs.conversation(correlationId)}>
                    {correlationId}
                  </a>
                  : {counted(events, 'event')} since <Time iso={from} />, first <PlaceLink place={first} />
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Answer>
  )
}
