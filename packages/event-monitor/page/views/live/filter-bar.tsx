import { parseGuid } from '@orderflow/envelope-schema/inputs'
import type { EventFilter } from '../../../src/api/index.ts'
import { go } from '../../data/location.ts'
import { chipsOf, searchOf } from '../../lib/filters.ts'
import { hrefs } from '../../lib/route.ts'

const spans: [number, string][] = [
  [600, '10 min'],
  [3600, '1 h'],
  [86_400, '24 h'],
  [604_800, '7 d'],
]

/** What is asked for, each to be taken away, and when. */
export function FilterBar({ filter, seconds }: { filter: EventFilter; seconds: number }) {
  const chips = chipsOf(filter)
  const guid = filter.guid ?? parseGuid(filter.q)
  return (
    <div class="filter-bar">
      <ul class="chips" aria-label="Filters that are set">
        {chips.map(({ label, without }) => (
          <li key={label}>
            <a href={`/${searchOf(without)}`} aria-label={`Take away ${label}`}>
              {label} <span aria-hidden="true">✕</span>
            </a>
          </li>
        ))}
        {chips.length > 1 && (
          <li>
            <a href="/">all away</a>
          </li>
        )}
      </ul>
      {guid && (
        <span class="guid-links">
          This may be <a href={hrefs.conversation(guid)}>a conversation</a> or{' '}
          <a href={hrefs.id(guid)}>an event’s Id</a>.
        </span>
      )}
      <Times filter={filter} seconds={seconds} />
    </div>
  )
}

function Times({ filter, seconds }: { filter: EventFilter; seconds: number }) {
  const isSpan = filter.from === undefined && filter.to === undefined
  const set = (key: 'from' | 'to') => (event: Event) => {
    const { value } = event.currentTarget as HTMLInputElement
    const { [key]: _, ...others } = filter
    go(`/${searchOf(value ? { ...others, [key]: new Date(value).toISOString() } : others)}`)
  }
  return (
    <div class="times">
      <span class="spans" role="group" aria-label="Time of the strip">
        {spans.map(([each, text]) => (
          <button
            type="button"
            key={each}
            aria-pressed={isSpan && each === seconds}
            onClick={() => go(withSpan(filter, each))}
          >
            {text}
          </button>
        ))}
      </span>
      <details class="from-to">
        <summary>From, to</summary>
        <label>
          from <input type="datetime-local" step="1" value={localOf(filter.from)} onChange={set('from')} />
        </label>
        <label>
          to <input type="datetime-local" step="1" value={localOf(filter.to)} onChange={set('to')} />
        </label>
      </details>
    </div>
  )
}

function withSpan({ from: _, to: __, ...filter }: EventFilter, seconds: number): string {
  const query = searchOf(filter)
  return seconds === 600 ? `/${query}` : `/${query || '?'}${query ? '&' : ''}seconds=${seconds}`
}

/** As an input takes it: where the reader is. */
function localOf(iso: string | undefined): string {
  if (!iso) return ''
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
