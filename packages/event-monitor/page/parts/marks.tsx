import { Fragment } from 'preact'
import type { EventRow, RecordPosition, RejectedBy as RejectedByService, Validity } from '../../src/api/index.ts'
import { clock, moment, shortId } from '../lib/format.ts'
import { hrefs, positionText } from '../lib/route.ts'

/** Every state has a sign or word, because some users cannot see colours. */
const signs: Record<Validity, { sign: string; kind: 'good' | 'plain' | 'bad' | 'warn' }> = {
  valid: { sign: '✓', kind: 'good' },
  foreign: { sign: '◇', kind: 'plain' },
  'not-utf8': { sign: '✕', kind: 'bad' },
  'not-json': { sign: '✕', kind: 'bad' },
  'not-an-envelope': { sign: '✕', kind: 'bad' },
  'unknown-event': { sign: '✕', kind: 'bad' },
  'unknown-version': { sign: '✕', kind: 'bad' },
  'invalid-payload': { sign: '✕', kind: 'bad' },
  untrusted: { sign: '!', kind: 'warn' },
  'dead-letter': { sign: '†', kind: 'bad' },
  'replay-note': { sign: '↻', kind: 'plain' },
  other: { sign: '?', kind: 'warn' },
}

export function ValidityMark({ validity }: { validity: Validity }) {
  const { sign, kind } = signs[validity] ?? signs.other
  return (
    <span class={`mark ${kind}`}>
      <span aria-hidden="true">{sign}</span> {validity}
    </span>
  )
}

export function State({
  kind,
  children,
}: {
  kind: 'good' | 'bad' | 'warn' | 'plain'
  children: preact.ComponentChildren
}) {
  const sign = { good: '✓', bad: '✕', warn: '!', plain: '·' }[kind]
  return (
    <span class={`mark ${kind}`}>
      <span aria-hidden="true">{sign}</span> {children}
    </span>
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
