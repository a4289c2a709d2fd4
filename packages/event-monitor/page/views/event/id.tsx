import { useEffect } from 'preact/hooks'
import { type Places, paths } from '../../../src/api/index.ts'
import { useLoad } from '../../data/load.ts'
import { go } from '../../data/location.ts'
import { useTitle } from '../../data/title.ts'
import { counted } from '../../lib/format.ts'
import { hrefs, placeText } from '../../lib/route.ts'
import { Answer, Empty } from '../../parts/answers.tsx'
import { PlaceLink } from '../../parts/marks.tsx'
import { TruthLine } from '../../parts/truth-line.tsx'
import type { View } from '../../parts/view.ts'

/** Where events with an Id stand: of one alone, that event. */
export const IdView: View<'id'> = ({ route: { id } }) => {
  const { state, again } = useLoad<Places>(paths.id(id), 5000)
  const { data } = state.value
  useTitle(`Id ${id}`)
  useEffect(() => {
    const [only, second] = data?.places ?? []
    if (only && !second) go(hrefs.event(only), 'replace')
  }, [data])
  return (
    <article class="page">
      <TruthLine complete={data?.complete} shown={data ? counted(data.places.length, 'record') : undefined} />
      <h1>
        Id <span class="id">{id}</span>
      </h1>
      {!data && state.value.problem?.status === 404 ? (
        <Empty title="No record that is kept has this Id.">
          <p>
            It may be a <a href={hrefs.conversation(id)}>conversation</a>, or{' '}
            <a href={`/?guid=${encodeURIComponent(id)}`}>stand in a payload</a>.
          </p>
        </Empty>
      ) : (
        <Answer of={state.value} again={again}>
          {({ places }) => (
            <>
              <p>It was published or delivered {places.length} times: whoever receives it takes it in once.</p>
              <ul>
                {places.map((place) => (
                  <li key={placeText(place)}>
                    <PlaceLink place={place} />
                  </li>
                ))}
              </ul>
            </>
          )}
        </Answer>
      )}
    </article>
  )
}
