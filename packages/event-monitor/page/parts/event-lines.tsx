import type { EventRow } from '../../src/api/index.ts'
import { PlaceLink, publisherOf, Time, TypeName, ValidityMark } from './marks.tsx'

/** A few events, one below the other. */
export function EventLines({ rows }: { rows: EventRow[] }) {
  return (
    <ul class="event-lines">
      {rows.map((row) => (
        <li key={`${row.place.topic}/${row.place.partition}/${row.place.offset}`}>
          <Time iso={row.at} isClock />{' '}
          <strong>
            <TypeName row={row} />
          </strong>{' '}
          <ValidityMark validity={row.validity} /> <span class="quiet">{publisherOf(row)}</span>{' '}
          <PlaceLink place={row.place} />
        </li>
      ))}
    </ul>
  )
}
