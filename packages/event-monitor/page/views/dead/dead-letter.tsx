import { type DeadLetterDetail, paths } from '../../../src/api/index.ts'
import { useTitle } from '../../data/announce.ts'
import { useLoad } from '../../data/load.ts'
import { hrefs, positionText } from '../../lib/route.ts'
import { Answer } from '../../parts/answers.tsx'
import { FaultList } from '../../parts/json-view.tsx'
import { PositionLink, State, Time } from '../../parts/marks.tsx'
import { CompletenessLine, type View } from '../../parts/view.tsx'
import { SaveFixture } from '../event/fixture.tsx'
import { EventPanel } from '../event/panel.tsx'
import { EditForm } from './edit.tsx'

export const EntryView: View<'dead-entry'> = ({ route }) => {
  const { state, again } = useLoad<DeadLetterDetail>(paths.deadLetterEntry(route.entry), 3000)
  const { data } = state.value
  useTitle(data ? `${data.entry.reason} of ${data.entry.name ?? 'an event'}` : 'Dead letter')
  return (
    <article class="page entry" key={route.entry}>
      <CompletenessLine complete={data?.event?.complete} shown="one dead letter" />
      <p>
        <a href={data ? hrefs.group(data.entry.group) : '/dead'}>← Dead letters</a>
      </p>
      <h1>
        {data ? `${data.entry.reason} of ${data.entry.name ?? 'a record that is not an event'}` : 'Dead letter'}{' '}
        <span class="id quiet">{route.entry}</span>
      </h1>
      <Answer of={state.value} again={again}>
        {(detail) => (
          <>
            <Story detail={detail} />
            {detail.entry.state === 'replayed' ? (
              <Done detail={detail} />
            ) : detail.editable === null && !isNoJson(detail) ? (
              <p>
                <State kind="warn">
                  This event cannot be edited. It was deleted from the dead-letter topic and the log.
                </State>{' '}
                Ask its publisher to send it again.
              </p>
            ) : (
              <EditForm detail={detail} editable={detail.editable ?? ''} again={again} />
            )}
            {detail.event && (
              <details class="whole-event">
                <summary>Event, headers and context</summary>
                <EventPanel detail={detail.event} />
              </details>
            )}
          </>
        )}
      </Answer>
    </article>
  )
}

/** Returns true if the user must write a whole new event, because the monitor can mask and edit only JSON. */
const isNoJson = ({ entry }: DeadLetterDetail) => ['not-json', 'not-utf8'].includes(entry.reason)

const Done = ({ detail: { event } }: { detail: DeadLetterDetail }) => (
  <p class="actions">
    {event && (
      <a class="tab" href={hrefs.conversation(event.row.correlationId)}>
        Open the conversation
      </a>
    )}
    <a class="tab" href="/dead">
      Show all dead letters
    </a>
  </p>
)

function Story({ detail: { entry, faults, event } }: { detail: DeadLetterDetail }) {
  const rejected = event?.row.position ?? entry.attempts.at(-1)?.rejections[0]?.deadLetter
  return (
    <section class="card story" aria-label="History">
      <ol>
        {entry.attempts.map((attempt) => (
          <li key={positionText(attempt.position) + attempt.at}>
            <Time iso={attempt.at} />: <PositionLink position={attempt.position} /> was rejected by{' '}
            {attempt.rejections.map(({ app, reason, deadLetter }, index) => (
              <span key={positionText(deadLetter)}>
                {index > 0 && ' and '}
                <strong>{app}</strong>: {reason} (dead letter <PositionLink position={deadLetter} />)
              </span>
            ))}
            {attempt.replayed && (
              <>
                ; {attempt.replayed.edited ? 'edited and replayed' : 'replayed'} <Time iso={attempt.replayed.at} /> as{' '}
                <PositionLink position={attempt.replayed.as} />
              </>
            )}
          </li>
        ))}
      </ol>
      <p>
        <State kind={entry.state === 'open' ? 'bad' : 'good'}>
          {entry.state === 'open' ? 'open' : 'replayed, and has not failed again'}
        </State>
        {entry.state === 'open' && event && (
          <>
            {' '}
            · <a href={hrefs.conversation(event.row.correlationId)}>open the conversation</a>
          </>
        )}
      </p>
      {rejected && (
        <div class="actions">
          <SaveFixture position={rejected} key={positionText(rejected)} />
        </div>
      )}
      {faults.length > 0 && <FaultList faults={faults} />}
    </section>
  )
}
