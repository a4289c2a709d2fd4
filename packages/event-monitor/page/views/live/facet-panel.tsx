import { useSignal } from '@preact/signals'
import type { Count, EventFilter } from '../../../src/api/index.ts'
import { go } from '../../data/location.ts'
import { type FacetKey, isChosen, searchOf, toggled } from '../../lib/filters.ts'
import { count } from '../../lib/format.ts'
import { Breakable } from '../../parts/marks.tsx'
import { useMedia } from '../../parts/media.ts'
import type { LiveSession } from './session.ts'

const titles: [FacetKey, string][] = [
  ['validity', 'Validity'],
  ['type', 'Type'],
  ['topic', 'Topic'],
  ['publisher', 'Publisher'],
  ['why', 'Why not valid'],
]

/** What there is, counted, to be clicked. */
export function FacetPanel({ session, filter }: { session: LiveSession; filter: EventFilter }) {
  const isNarrow = useMedia('(max-width: 800px)')
  const facets = session.facets.value
  return (
    <aside class="facets" aria-label="Filters">
      <details open={!isNarrow} key={String(isNarrow)}>
        <summary>Filters</summary>
        {facets?.isAtLeast && <p class="quiet">Counts are of the newest {count(facets.total)} events.</p>}
        {titles.map(([key, title]) => (
          <Facet key={key} name={key} title={title} values={facets?.[key] ?? []} filter={filter} />
        ))}
      </details>
    </aside>
  )
}

interface FacetProps {
  name: FacetKey
  title: string
  values: Count[]
  filter: EventFilter
}

function Facet({ name, title, values, filter }: FacetProps) {
  const isWhole = useSignal(false)
  const few = 7
  if (values.length === 0) return null
  const shown = isWhole.value ? values : values.slice(0, few)
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {shown.map(({ value, count: many }) => (
          <li key={value}>
            <button
              type="button"
              aria-pressed={isChosen(filter, name, value)}
              onClick={() => go(`/${searchOf(toggled(filter, name, value))}`)}
            >
              <span class="value">
                <Breakable text={value} />
              </span>
              <span class="many">{count(many)}</span>
            </button>
          </li>
        ))}
      </ul>
      {values.length > few && (
        <button type="button" class="more" onClick={() => (isWhole.value = !isWhole.value)}>
          {isWhole.value ? 'fewer' : `${values.length - few} more`}
        </button>
      )}
    </section>
  )
}
