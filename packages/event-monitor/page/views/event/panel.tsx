import type { EventDetail, EventRow } from '../../../src/api/index.ts'
import { bytes, duration } from '../../lib/format.ts'
import { hrefs, isNote, positionText } from '../../lib/route.ts'
import { FaultList, JsonView } from '../../parts/json-view.tsx'
import { PositionLink, publisherOf, RejectedBy, State, Time, TypeName, ValidityMark } from '../../parts/marks.tsx'
import { Actions } from './actions.tsx'

export function EventPanel({ detail }: { detail: EventDetail }) {
  const { row, document, documentNote, faults, headers, key } = detail
  return (
    <div class="event-panel">
      <div class="event-main">
        <Facts row={row} detail={detail} />
        <Actions detail={detail} key={positionText(row.position)} />
        <h2>Document</h2>
        {documentNote !== null && <p>{documentNote}</p>}
        {document !== null ? (
          <JsonView label="Document" document={document} faults={faults} />
        ) : (
          <FaultList faults={faults} />
        )}
        <h2>Record</h2>
        <dl class="facts">
          <Fact name="Key">{key === null ? <span class="quiet">(none)</span> : <code class="whole">{key}</code>}</Fact>
          {headers.map(({ name, value }, index) => (
            <Fact key={index} name={name}>
              <code class="whole">{value}</code>
            </Fact>
          ))}
          {headers.length === 0 && <Fact name="Headers">none</Fact>}
        </dl>
      </div>
      <div class="event-side">
        <Related
          title="Cause"
          rows={detail.cause ? [detail.cause] : []}
          none={
            row.causationId ? `${row.causationId}, which is not in the index` : 'none: this event begins a conversation'
          }
        />
        <Related title="Effects" rows={detail.effects} none="none yet" />
        <DeadLetters detail={detail} />
        <Trust detail={detail} />
      </div>
    </div>
  )
}

/** Returns the row of the event whose conversation contains the record. For the note of a replay, this is the failed event, if the index has it. */
export const eventOf = ({ row, cause }: EventDetail): EventRow | null => (isNote(row) ? cause : row)

function Facts({ row, detail }: { row: EventRow; detail: EventDetail }) {
  const event = eventOf(detail)
  const late = row.createdAt === null ? null : Date.parse(row.at) - Date.parse(row.createdAt)
  return (
    <dl class="facts">
      <Fact name="Publisher">
        {publisherOf(row)} {row.appId && <span class="quiet id">{row.appId}</span>}
      </Fact>
      <Fact name="Arrived">
        <Time iso={row.at} />
        {late !== null && (
          <span class="quiet">
            {' '}
            {late < 0 ? `${duration(-late)} before the CreationDate` : `${duration(late)} after the CreationDate`}
          </span>
        )}
      </Fact>
      {!isNote(row) && (
        <Fact name="Id">
          <a class="id whole" href={hrefs.id(row.id)}>
            {row.id}
          </a>
        </Fact>
      )}
      {event && (
        <Fact name="Conversation">
          <a class="id whole" href={hrefs.conversation(event.correlationId)}>
            {event.correlationId}
          </a>
        </Fact>
      )}
      <Fact name="Size">
        {bytes(row.bytes)}
        {row.variant && `, ${row.variant} variant`}
      </Fact>
      {row.of && (
        <Fact name="Refers to">
          <PositionLink position={row.of} />
        </Fact>
      )}
      {detail.traceUrl && !isNote(row) && (
        <Fact name="Trace">
          <a href={detail.traceUrl} target="_blank" rel="noreferrer">
            {row.traceId}
          </a>
        </Fact>
      )}
    </dl>
  )
}

function Fact({ name, children }: { name: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function Related({ title, rows, none }: { title: string; rows: EventRow[]; none: string }) {
  return (
    <section>
      <h2>{title}</h2>
      {rows.length > 0 ? <EventLines rows={rows} /> : <p class="quiet whole">{none}</p>}
    </section>
  )
}

function DeadLetters({ detail: { entries } }: { detail: EventDetail }) {
  return (
    <section>
      <h2>Dead letters</h2>
      {entries.length === 0 && <p class="quiet">none</p>}
      <ul class="event-lines">
        {entries.map(({ id, services, state, deadLetters }) => (
          <li key={id}>
            Rejected by <RejectedBy services={services} />{' '}
            {deadLetters.map((deadLetter) => (
              <PositionLink key={deadLetter.offset} position={deadLetter} />
            ))}{' '}
            <State kind={state === 'open' ? 'bad' : 'good'}>{state}</State>{' '}
            <a href={hrefs.entry(id)}>{state === 'open' ? 'edit and replay' : 'show the history'}</a>
          </li>
        ))}
      </ul>
    </section>
  )
}

const publishers = {
  service: 'a service of this system',
  listed: 'listed in trust.json',
  unlisted: 'not listed in trust.json',
}
const signatures = {
  ours: ['good', 'signed by this system'],
  wrong: ['bad', 'signature is invalid'],
  none: ['plain', 'not signed'],
  'not-asked': ['plain', 'signatures are not checked'],
} as const

function Trust({ detail: { trust } }: { detail: EventDetail }) {
  const [kind, text] = signatures[trust.signature]
  return (
    <section>
      <h2>Trust</h2>
      <p>The publisher is {trust.publisher ? publishers[trust.publisher] : 'unknown'}.</p>
      <p>
        <State kind={kind}>{text}</State>
      </p>
      <p>
        <State kind={trust.refusal ? 'bad' : 'good'}>
          {trust.refusal ? `rejected: ${trust.refusal}` : 'this publisher is allowed to publish this event'}
        </State>
      </p>
    </section>
  )
}

function EventLines({ rows }: { rows: EventRow[] }) {
  return (
    <ul class="event-lines">
      {rows.map((row) => (
        <li key={positionText(row.position)}>
          <Time iso={row.at} isClock />{' '}
          <strong>
            <TypeName row={row} />
          </strong>{' '}
          <ValidityMark validity={row.validity} /> <span class="quiet">{publisherOf(row)}</span>{' '}
          <PositionLink position={row.position} />
        </li>
      ))}
    </ul>
  )
}
