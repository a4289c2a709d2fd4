import { type ComponentChildren, Fragment } from 'preact'
import type { EventRow, RecordPosition, RejectedBy as RejectedByService, Validity } from '../../src/api/index.ts'
import { clock, moment, shortId } from '../lib/format.ts'
import { hrefs, positionText } from '../lib/route.ts'

type MarkKind = 'good' | 'bad' | 'warn' | 'plain'

const signs = { good: '✓', bad: '✕', warn: '!', plain: '·' }

interface StateProps {
  kind: MarkKind
  /** Every state has a sign or word, because some users cannot see colours. */
  sign?: string
  children: ComponentChildren
}

export const State = ({ kind, sign = signs[kind], children }: StateProps) => (
  <span class={`mark ${kind}`}>
    <span aria-hidden="true">{sign}</span> {children}
  </span>
)

/** The marks of all validities except the reasons for which receivers reject an event. */
const otherMarks: Partial<Record<Validity, [kind: MarkKind, sign: string]>> = {
  valid: ['good', '✓'],
  foreign: ['plain', '◇'],
  untrusted: ['warn', '!'],
  'dead-letter': ['bad', '†'],
  'replay-note': ['plain', '↻'],
  other: ['warn', '?'],
}

export function ValidityMark({ validity }: { validity: Validity }) {
  const [kind, sign] = otherMarks[validity] ?? ['bad', '✕']
  return (
    <State kind={kind} sign={sign}>
      {validity}
    </State>
  )
}

export function RejectedBy({ services }: { services: readonly RejectedByService[] }) {
  const byReason = Map.groupBy(services, ({ reason }) => reason)
  return [...byReason].map(([reason, some], index) => (
    <Fragment key={reason}>
      {index > 0 && '; '}
      <strong>{some.map(({ app }) => app).join(', ')}</strong>: {reason}
    </Fragment>
  ))
}

export function Time({ iso, isClock }: { iso: string; isClock?: boolean }) {
  return (
    <time dateTime={iso} title={iso}>
      {isClock ? clock(iso) : moment(iso)}
    </time>
  )
}

export function PositionLink({ position }: { position: RecordPosition }) {
  return (
    <a class="position" href={hrefs.event(position)} title={positionText(position)}>
      {positionText(position)}
    </a>
  )
}

export function ConversationLink({ id }: { id: string }) {
  return (
    <a class="id" href={hrefs.conversation(id)} title={`Conversation ${id}`}>
      {shortId(id)}
    </a>
  )
}

export function TypeName({ row }: { row: Pick<EventRow, 'name' | 'version'> }) {
  if (!row.name) return <span class="quiet">(no name)</span>
  return (
    <>
      {row.name}
      <span class="quiet">@{row.version ?? '?'}</span>
    </>
  )
}

export const publisherOf = ({ appName, appId }: { appName: string | null; appId: string | null }) =>
  appName ?? appId ?? '(unknown)'

/** Allows line breaks before `.`, `@` and `/`. */
export function Breakable({ text }: { text: string }) {
  return (
    <>
      {text.split(/(?=[.@/])/).map((part, index) => (
        <Fragment key={index}>
          {index > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </>
  )
}
