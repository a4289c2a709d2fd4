import type { EventFilter } from '../../../src/api/index.ts'
import { go } from '../../data/location.ts'
import { searchOf } from '../../lib/filters.ts'
import { count } from '../../lib/format.ts'
import { hrefs } from '../../lib/route.ts'
import type { Line } from '../../lib/row-buffer.ts'
import { ConversationLink, PlaceLink, publisherOf, Time, TypeName, ValidityMark } from '../../parts/marks.tsx'

interface Props {
  line: Line
  index: number
  isActive: boolean
  filter: EventFilter
}

/** A row of the list; a click anywhere on it opens its event. */
export function LineRow({ line, index, isActive, filter }: Props) {
  const place = { 'aria-rowindex': index + 2, id: `row-${index}` }
  if (!('row' in line)) {
    const to = new Date(Date.parse(line.to) + 1).toISOString()
    return (
      <div class="event-row note" role="row" {...place}>
        <span role="gridcell">
          {count(line.leftOut)} more came in this time:{' '}
          <a href={`/${searchOf({ ...filter, from: line.from, to })}`}>see all of them</a>
        </span>
      </div>
    )
  }
  const { row } = line
  const open = (event: MouseEvent) => {
    if ((event.target as Element).closest('a') || getSelection()?.type === 'Range') return
    go(hrefs.event(row.place))
  }
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Enter opens the active row; each has a link, too
    <div
      class={`event-row${isActive ? ' is-active' : ''}`}
      role="row"
      {...place}
      aria-selected={isActive}
      onClick={open}
    >
      <span role="gridcell" class="at">
        <Time iso={row.at} isClock />
      </span>
      <span role="gridcell" class="what" title={row.name ?? undefined}>
        <TypeName row={row} />
        {row.problem && (
          <span class="why">
            {' '}
            {row.problem.pointer || ''} {row.problem.message}
          </span>
        )}
      </span>
      <span role="gridcell" class="validity">
        <ValidityMark validity={row.validity} />
      </span>
      <span role="gridcell" class="who" title={publisherOf(row)}>
        {publisherOf(row)}
      </span>
      <span role="gridcell" class="where">
        <PlaceLink place={row.place} />
      </span>
      <span role="gridcell" class="conversation">
        <ConversationLink id={row.correlationId} />
      </span>
    </div>
  )
}
