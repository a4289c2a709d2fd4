import { useEffect } from 'preact/hooks'
import { type EventDetail, paths, type RecordPositions } from '../../../src/api/index.ts'
import { useTitle } from '../../data/announce.ts'
import { useKeys } from '../../data/commands.ts'
import { useLoad } from '../../data/load.ts'
import { go } from '../../data/location.ts'
import { counted } from '../../lib/format.ts'
import { hrefs, positionText } from '../../lib/route.ts'
import { Answer, Empty } from '../../parts/answers.tsx'
import { PositionLink, TypeName, ValidityMark } from '../../parts/marks.tsx'
import { AnswerView, CompletenessLine, type View } from '../../parts/view.tsx'
import { EventPanel, eventOf } from './panel.tsx'

export const EventView: View<'event'> = ({ route: { position } }) => {
  const { state, again } = useLoad<EventDetail>(paths.event(position))
  const { data } = state.value
  useTitle(data?.row.name ? `${data.row.name} ${positionText(position)}` : positionText(position))
  const to = (other: EventDetail['previous'] | undefined) => () => {
    if (other) go(hrefs.event(other))
    return Boolean(other)
  }
  useKeys({
    next: to(data?.following),
    previous: to(data?.previous),
    conversation: () => {
      const event = data && eventOf(data)
      if (event) go(hrefs.conversation(event.correlationId))
      return Boolean(event)
    },
  })
  return (
    <article class="page event">
      <CompletenessLine complete={data?.complete} shown="one record" />
      <header class="event-title">
        <h1>
          {data ? <TypeName row={data.row} /> : 'Event'} <span class="position">{positionText(position)}</span>
        </h1>
        {data && <ValidityMark validity={data.row.validity} />}
        <nav aria-label="Records of this partition">
          <Neighbour position={data?.previous} text="← previous" hint="k" />
          <Neighbour position={data?.following} text="next →" hint="j" />
        </nav>
      </header>
      <Answer of={state.value} again={again}>
        {(detail) => <EventPanel detail={detail} />}
      </Answer>
    </article>
  )
}

interface NeighbourProps {
  position: EventDetail['previous'] | undefined
  text: string
  hint: string
}

function Neighbour({ position, text, hint }: NeighbourProps) {
  if (!position) return <span class="quiet">{text}</span>
  return (
    <a href={hrefs.event(position)} title={`${positionText(position)} (${hint})`}>
      {text}
    </a>
  )
}

export const IdView: View<'id'> = ({ route: { id } }) => (
  <AnswerView<RecordPositions>
    title={`Id ${id}`}
    heading={['Id ', <span class="id">{id}</span>]}
    path={paths.id(id)}
    everyMs={5000}
    shown={({ positions }) => counted(positions.length, 'record')}
    missing={
      <Empty title="The index has no record with this Id.">
        <p>
          This id may belong to a <a href={hrefs.conversation(id)}>conversation</a>, or be{' '}
          <a href={`/?guid=${encodeURIComponent(id)}`}>a value in a Payload</a>.
        </p>
      </Empty>
    }
  >
    {({ positions }) => <Positions positions={positions} />}
  </AnswerView>
)

/** Lists the records with an Id. If there is only one record, opens it. */
function Positions({ positions }: Pick<RecordPositions, 'positions'>) {
  useEffect(() => {
    const [only, second] = positions
    if (only && !second) go(hrefs.event(only), 'replace')
  }, [positions])
  return (
    <>
      <p>The log has {positions.length} records with this Id. Each service handles the event only once.</p>
      <ul>
        {positions.map((position) => (
          <li key={positionText(position)}>
            <PositionLink position={position} />
          </li>
        ))}
      </ul>
    </>
  )
}
