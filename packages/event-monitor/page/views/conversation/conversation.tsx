import { parseGuid } from '@orderflow/envelope/inputs'
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import {
  type Conversation,
  type ConversationsOf,
  type EventDetail,
  paths,
  type RecordPosition,
  type Step,
} from '../../../src/api/index.ts'
import { useKeys } from '../../data/commands.ts'
import { useLoad } from '../../data/load.ts'
import { go, path, search } from '../../data/location.ts'
import { count, counted, duration, since } from '../../lib/format.ts'
import { isRecord, notesOf, titleOf } from '../../lib/lifeline.ts'
import { hrefs, positionText } from '../../lib/route.ts'
import { Answer, Empty } from '../../parts/answers.tsx'
import { Button, Choices } from '../../parts/controls.tsx'
import { PositionLink, Time, TypeName, ValidityMark } from '../../parts/marks.tsx'
import { Table, useActiveRow } from '../../parts/tables.tsx'
import { AnswerView, type View } from '../../parts/view.tsx'
import { EventPanel } from '../event/panel.tsx'
import { LifelineView } from './lifeline.tsx'
import { Waits } from './waits.tsx'

export const ConversationView: View<'conversation'> = ({ route: { correlationId } }) => (
  <AnswerView<Conversation>
    name="conversation"
    title={`Conversation ${correlationId.slice(0, 8)}`}
    heading={['Conversation ', <span class="id">{correlationId}</span>]}
    path={paths.conversation(correlationId)}
    everyMs={5000}
    shown={({ steps, total }) => `${count(steps.filter(isRecord).length)} of ${counted(total, 'record')} shown`}
    missing={<OtherConversations guid={correlationId} />}
  >
    {(conversation) => (
      <>
        <Waits correlationId={conversation.correlationId} />
        <Steps conversation={conversation} />
      </>
    )}
  </AnswerView>
)

const setParam = (name: string, value: string | null) => {
  const params = new URLSearchParams(search.value)
  if (value === null) params.delete(name)
  else params.set(name, value)
  const text = params.toString()
  go(path.value + (text && `?${text}`), 'replace')
}

const displays = [
  [null, 'Lifeline'],
  ['table', 'Table'],
] as const

function Steps({ conversation }: { conversation: Conversation }) {
  const { steps, total } = conversation
  const params = new URLSearchParams(search.value)
  const isTable = params.get('as') === 'table'
  const isWide = params.get('time') === 'wide'
  const opened = useSignal<number | null>(null)
  const active = useActiveRow(steps.length, (index) => (opened.value = index))
  const open = (index: number) => {
    active.value = index
    opened.value = index
  }
  useEffect(() => {
    if (opened.value !== null) opened.value = active.value
  }, [active.value])
  useKeys({
    back: () => {
      if (opened.value === null) return false
      opened.value = null
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
        <span role="group" aria-label="Display">
          <Choices of={displays} chosen={isTable ? 'table' : null} choose={(next) => setParam('as', next)} />
        </span>
        {!isTable && (
          <Button
            aria-pressed={!isWide}
            onClick={() => setParam('time', isWide ? null : 'wide')}
            title="Show each time without events as one line"
          >
            Compact
          </Button>
        )}
        <span class="quiet">
          duration: {duration(last - first)}
          {failures > 0 && <span class="mark bad"> · ✕ {counted(failures, 'dead letter')}</span>}
        </span>
        {!isTable && (
          <span class="legend">
            <span class="dot is-handled" aria-hidden="true" /> handled <span class="dot" aria-hidden="true" /> waiting{' '}
            <span class="mark bad" aria-hidden="true">
              ✕
            </span>{' '}
            rejected <span aria-hidden="true">?</span> unknown
          </span>
        )}
        {total > records && (
          <span class="mark warn">
            ! only the oldest {count(records)} of {count(total)} records are shown
          </span>
        )}
      </div>
      <div class={shown ? 'with-panel' : ''}>
        {isTable ? (
          <StepTable conversation={conversation} active={active.value} open={open} />
        ) : (
          <LifelineView conversation={conversation} isCompact={!isWide} active={active.value} open={open} />
        )}
        {shown && <SidePanel position={shown.row.position} close={() => (opened.value = null)} />}
      </div>
    </>
  )
}

function OtherConversations({ guid }: { guid: string }) {
  const { state, again } = useLoad<ConversationsOf>(
    parseGuid(guid) ? `${paths.conversations}?guid=${encodeURIComponent(guid)}` : null,
  )
  const [only, second] = state.value.data?.items ?? []
  useEffect(() => {
    if (only && !second && only.correlationId !== guid) go(hrefs.conversation(only.correlationId), 'replace')
  }, [only])
  if (!parseGuid(guid)) return <Empty title="The id of a conversation must be a GUID. Correct the address." />
  return (
    <Answer of={state.value} again={again}>
      {({ items }) =>
        items.length === 0 ? (
          <Empty title="The index has no events of this conversation.">
            <p>
              Its events may be older than the index, or not published yet. To publish events, run{' '}
              <code>make demo</code>
            </p>
          </Empty>
        ) : (
          <>
            <p>No conversation has this CorrelationId. These conversations contain this GUID:</p>
            <ul>
              {items.map(({ correlationId, events, from, first }) => (
                <li key={correlationId}>
                  <a class="id" href={hrefs.conversation(correlationId)}>
                    {correlationId}
                  </a>
                  : {counted(events, 'event')} since <Time iso={from} />, first event: <PositionLink position={first} />
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Answer>
  )
}

function SidePanel({ position, close }: { position: RecordPosition; close: () => void }) {
  const { state, again } = useLoad<EventDetail>(paths.event(position))
  const element = useRef<HTMLElement>(null)
  useEffect(() => element.current?.focus({ preventScroll: true }), [])
  return (
    <section class="side-panel" aria-label={`Event ${positionText(position)}`} ref={element} tabIndex={-1}>
      <header>
        <a href={hrefs.event(position)}>{positionText(position)}</a>
        <Button class="plain" aria-label="Close" title="Esc" onClick={close}>
          ✕
        </Button>
      </header>
      <Answer of={state.value} again={again}>
        {(detail) => (
          <>
            <h2>
              <TypeName row={detail.row} /> <ValidityMark validity={detail.row.validity} />
            </h2>
            <EventPanel detail={detail} />
          </>
        )}
      </Answer>
    </section>
  )
}

interface Props {
  conversation: Conversation
  active: number
  open: (index: number) => void
}

const page = 300

function StepTable({ conversation: { steps, columns }, active, open }: Props) {
  const shown = useSignal(page)
  const start = useRef(steps.reduce((first, { row }) => Math.min(first, Date.parse(row.at)), Infinity))
  const title = (column: string) => columns.find(({ id }) => id === column)?.title ?? column
  return (
    <>
      <Table
        columns={['Step', 'Time', 'What', 'From, to', 'Cause', 'Consumers', 'Record']}
        rows={steps.slice(0, Math.max(shown.value, active + 1))}
        keyOf={(_, index) => index}
        active={active}
        cells={(step, index) => [
          <Button class="plain" aria-label={`Open step ${index + 1}`} onClick={() => open(index)}>
            {index + 1}
          </Button>,
          isRecord(step) && since(Date.parse(step.row.at) - start.current),
          <>
            <strong>{titleOf(step)}</strong> {isRecord(step) && <ValidityMark validity={step.row.validity} />}
            {notesOf(step).map(({ kind, text }) => (
              <div key={text} class={`note-text mark ${kind === 'warn' ? 'warn' : 'plain'}`}>
                {kind === 'warn' ? '!' : '↻'} {text}
              </div>
            ))}
          </>,
          `${title(step.from)} → ${title(step.to)}`,
          step.cause === null ? 'none' : `step ${step.cause + 1}`,
          isRecord(step) && <Takers step={step} title={title} />,
          <PositionLink position={step.row.position} />,
        ]}
      />
      {shown.value < steps.length && (
        <p class="list-foot">
          {shown.value} of {steps.length} steps <Button onClick={() => (shown.value += page)}>Show more</Button>
        </p>
      )}
    </>
  )
}

function Takers({ step: { consumers }, title }: { step: Step; title: (column: string) => string }) {
  if (consumers.length === 0) return <span class="quiet">none</span>
  return (
    <>
      {consumers.map(({ column, handled, isRejected, reaction }) => (
        <div key={column}>
          {title(column)}: {isRejected ? 'rejected' : handled === null ? 'unknown' : handled ? 'handled' : 'waiting'}
          {reaction.length > 0 && `, reaction: step ${reaction.map((index) => index + 1).join(', ')}`}
        </div>
      ))}
    </>
  )
}
