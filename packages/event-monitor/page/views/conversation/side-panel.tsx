import { useEffect, useRef } from 'preact/hooks'
import { type EventDetail, type Place, paths } from '../../../src/api/index.ts'
import { useLoad } from '../../data/load.ts'
import { hrefs, placeText } from '../../lib/route.ts'
import { Answer } from '../../parts/answers.tsx'
import { TypeName, ValidityMark } from '../../parts/marks.tsx'
import { EventPanel } from '../event/panel.tsx'

/** An event beside what it is a step of. */
export function SidePanel({ place, close }: { place: Place; close: () => void }) {
  const { state, again } = useLoad<EventDetail>(paths.event(place))
  const element = useRef<HTMLElement>(null)
  useEffect(() => element.current?.focus({ preventScroll: true }), [])
  return (
    <section class="side-panel" aria-label={`Event ${placeText(place)}`} ref={element} tabIndex={-1}>
      <header>
        <a href={hrefs.event(place)}>{placeText(place)}</a>
        <button type="button" class="plain" aria-label="Close" title="Esc" onClick={close}>
          ✕
        </button>
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
