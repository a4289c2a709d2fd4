import { type EventDetail, paths } from '../../../src/api/index.ts'
import { useKeys } from '../../data/commands.ts'
import { useLoad } from '../../data/load.ts'
import { go } from '../../data/location.ts'
import { useTitle } from '../../data/title.ts'
import { hrefs, placeText } from '../../lib/route.ts'
import { Answer } from '../../parts/answers.tsx'
import { TypeName, ValidityMark } from '../../parts/marks.tsx'
import { TruthLine } from '../../parts/truth-line.tsx'
import type { View } from '../../parts/view.ts'
import { EventPanel } from './panel.tsx'

/** One record, whole. */
export const EventView: View<'event'> = ({ route: { place } }) => {
  const { state, again } = useLoad<EventDetail>(paths.event(place))
  const { data } = state.value
  useTitle(data?.row.name ? `${data.row.name} ${placeText(place)}` : placeText(place))
  const to = (other: EventDetail['previous'] | undefined) => () => {
    if (other) go(hrefs.event(other))
    return Boolean(other)
  }
  useKeys({
    next: to(data?.following),
    previous: to(data?.previous),
    conversation: () => {
      if (data) go(hrefs.conversation(data.row.correlationId))
      return data !== null
    },
  })
  return (
    <article class="page event">
      <TruthLine complete={data?.complete} shown="one record" />
      <header class="event-title">
        <h1>
          {data ? <TypeName row={data.row} /> : 'Event'} <span class="place">{placeText(place)}</span>
        </h1>
        {data && <ValidityMark validity={data.row.validity} />}
        <nav aria-label="In its partition">
          <Neighbour place={data?.previous} text="← before" hint="k" />
          <Neighbour place={data?.following} text="after →" hint="j" />
        </nav>
      </header>
      <Answer of={state.value} again={again}>
        {(detail) => <EventPanel detail={detail} />}
      </Answer>
    </article>
  )
}

function Neighbour({ place, text, hint }: { place: EventDetail['previous'] | undefined; text: string; hint: string }) {
  if (!place) return <span class="quiet">{text}</span>
  return (
    <a href={hrefs.event(place)} title={`${placeText(place)} (${hint})`}>
      {text}
    </a>
  )
}
