import { type DeadLetterDetail, paths } from '../../../src/api/index.ts'
import { useTitle } from '../../data/announce.ts'
import { useLoad } from '../../data/load.ts'
import { hrefs, placeText } from '../../lib/route.ts'
import { Answer } from '../../parts/answers.tsx'
import { FaultList } from '../../parts/json-view.tsx'
import { PlaceLink, State, Time } from '../../parts/marks.tsx'
import { TruthLine, type View } from '../../parts/view.tsx'
import { EventPanel } from '../event/panel.tsx'
import { Mend } from './edit.tsx'

/** One dead letter: what failed and why, to be mended and sent again. */
export const EntryView: View<'dead-entry'> = ({ route }) => {
  const { state, again } = useLoad<DeadLetterDetail>(paths.deadLetterEntry(route.entry), 3000)
  const { data } = state.value
  useTitle(data ? `${data.entry.reason} of ${data.entry.name ?? 'an event'}` : 'Dead letter')
  return (
    <article class="page entry" key={route.entry}>
      <TruthLine complete={data?.event?.complete} shown="one dead letter" />
      <p>
        <a href={data ? hrefs.group(data.entry.group) : '/dead'}>← Dead letters</a>
      </p>
      <h1>
        {data ? `${data.entry.reason} of ${data.entry.name ?? 'a record that is no event'}` : 'Dead letter'}{' '}
        <span class="id quiet">{route.entry}</span>
      </h1>
      <Answer of={state.value} again={again}>
        {(detail) => (
          <>
            <Story detail={detail} />
            {detail.entry.state === 'resent' ? (
              <Done detail={detail} />
            ) : detail.editable === null && !isNoJson(detail) ? (
              <p>
                <State kind="warn">
                  It cannot be edited: neither its dead letter nor the log has the event any more.
                </State>{' '}
                Its publisher must send it again.
              </p>
            ) : (
              <Mend detail={detail} editable={detail.editable ?? ''} again={again} />
            )}
            {detail.event && (
              <details class="whole-event">
                <summary>The event, its headers and where it belongs</summary>
                <EventPanel detail={detail.event} />
              </details>
            )}
          </>
        )}
      </Answer>
    </article>
  )
}

/** Of what is no JSON nothing can be shown masked: it is written anew. */
const isNoJson = ({ entry }: DeadLetterDetail) => ['not-json', 'not-utf8'].includes(entry.reason)

/** Where to look what came of it. */
const Done = ({ detail: { event } }: { detail: DeadLetterDetail }) => (
  <p class="actions">
    {event && (
      <a class="tab" href={hrefs.conversation(event.row.correlationId)}>
        What followed: its conversation
      </a>
    )}
    <a class="tab" href="/dead">
      What else is open
    </a>
  </p>
)

/** What was tried, in order. */
function Story({ detail: { entry, faults, event } }: { detail: DeadLetterDetail }) {
  return (
    <section class="card story" aria-label="What happened">
      <ol>
        {entry.attempts.map((attempt) => (
          <li key={placeText(attempt.place) + attempt.at}>
            <Time iso={attempt.at} />: <PlaceLink place={attempt.place} /> was rejected by{' '}
            {attempt.rejections.map(({ app, reason, letter }, index) => (
              <span key={placeText(letter)}>
                {index > 0 && ' and '}
                <strong>{app}</strong>: {reason} (dead letter <PlaceLink place={letter} />)
              </span>
            ))}
            {attempt.resent && (
              <>
                ; {attempt.resent.edited ? 'edited and resent' : 'resent'} <Time iso={attempt.resent.at} /> as{' '}
                <PlaceLink place={attempt.resent.as} />
              </>
            )}
          </li>
        ))}
      </ol>
      <p>
        <State kind={entry.state === 'open' ? 'bad' : 'good'}>
          {entry.state === 'open' ? 'open' : 'resent, and has not failed since'}
        </State>
        {entry.state === 'open' && event && (
          <>
            {' '}
            · <a href={hrefs.conversation(event.row.correlationId)}>its conversation</a>
          </>
        )}
      </p>
      {faults.length > 0 && <FaultList faults={faults} />}
    </section>
  )
}
