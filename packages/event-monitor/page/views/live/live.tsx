import { parseGuid } from '@orderflow/envelope/inputs'
import { useComputed, useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { Count, EventFilter } from '../../../src/api/index.ts'
import { useTitle } from '../../data/announce.ts'
import { useKeys } from '../../data/commands.ts'
import { go, search } from '../../data/location.ts'
import { chipsOf, type FacetKey, filterOf, isChosen, searchOf, toggled } from '../../lib/filters.ts'
import { count, counted, moment, shownOf } from '../../lib/format.ts'
import { hrefs } from '../../lib/route.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { Button, Choices } from '../../parts/controls.tsx'
import { Breakable } from '../../parts/marks.tsx'
import { RateStrip } from '../../parts/rate-strip.tsx'
import { CompletenessLine, useMedia, type View } from '../../parts/view.tsx'
import { EventList } from './event-list.tsx'
import { LiveSession } from './session.ts'

const spanOf = (query: string) =>
  Math.min(604_800, Math.max(60, Number(new URLSearchParams(query).get('seconds')) || 600))

export const Live: View<'live'> = () => {
  useTitle('Live')
  const filter = useComputed(() => filterOf(search.value))
  const seconds = spanOf(search.value)
  const key = searchOf(filter.value)
  const session = useMemo(() => new LiveSession(filter.value, seconds), [key, seconds])
  useEffect(() => {
    session.start()
    return () => session.end()
  }, [session])
  const mark = (from: number, to: number) =>
    go(`/${searchOf({ ...filter.value, from: new Date(from).toISOString(), to: new Date(to).toISOString() })}`)
  const total = session.total.value
  const shown = session.lines.value.reduce((sum, line) => sum + ('row' in line ? 1 : 0), 0)
  return (
    <div class="live">
      <h1 class="only-read">Live events</h1>
      <CompletenessLine complete={total?.complete} shown={total ? shownOf(shown, total) : undefined} />
      <FilterBar filter={filter.value} seconds={seconds} />
      {session.problem.value && <ProblemBox problem={session.problem.value} />}
      <FacetPanel session={session} filter={filter.value} />
      <section class="stream" aria-label="Events">
        <RateStrip strip={session.strip} marked={mark} />
        <Counters session={session} />
        <EventList session={session} filter={filter.value} />
      </section>
    </div>
  )
}

function Counters({ session }: { session: LiveSession }) {
  const { matched, invalid, lost, leftOut } = session.counters.value
  const waiting = session.waiting.value
  const toggle = () => {
    if (session.waiting.value === null) session.stop()
    else session.goOn()
    return true
  }
  useKeys({ pause: toggle })
  if (!session.isLive)
    return (
      <p class="counters">This time range has an end, so no new events appear. Remove the end to see new events.</p>
    )
  return (
    <div class="counters">
      <Button class={waiting === null ? 'pause' : 'pause is-stopped'} onClick={toggle} title="Space">
        {waiting === null ? '‖ Pause' : `▶ ${count(waiting)} new: continue`}
      </Button>
      <span>
        <strong>{count(matched)}</strong> events since you opened this view
      </span>
      {invalid > 0 && <span class="mark bad">✕ {count(invalid)} not valid</span>}
      {leftOut > 0 && (
        <span title="The monitor counts and indexes all events. This view shows at most 20 of them per tenth of a second.">
          {counted(leftOut, 'row')} left out
        </span>
      )}
      {lost > 0 && <span class="mark warn">! {counted(lost, 'row')} left out because this browser was too slow</span>}
    </div>
  )
}

const spans: [number, string][] = [
  [600, '10 min'],
  [3600, '1 h'],
  [86_400, '24 h'],
  [604_800, '7 d'],
]

function FilterBar({ filter, seconds }: { filter: EventFilter; seconds: number }) {
  const chips = chipsOf(filter)
  const guid = filter.guid ?? parseGuid(filter.q)
  return (
    <div class="filter-bar">
      <ul class="chips" aria-label="Active filters">
        {chips.map(({ label, without }) => (
          <li key={label}>
            <a href={`/${searchOf(without)}`} aria-label={`Remove ${label}`}>
              {label} <span aria-hidden="true">✕</span>
            </a>
          </li>
        ))}
        {chips.length > 1 && (
          <li>
            <a href="/">Clear filters</a>
          </li>
        )}
      </ul>
      {guid && (
        <span class="guid-links">
          This GUID may be <a href={hrefs.conversation(guid)}>a conversation</a> or{' '}
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
      <span class="spans" role="group" aria-label="Time range of the chart">
        <Choices of={spans} chosen={isSpan ? seconds : undefined} choose={(each) => go(withSpan(filter, each))} />
      </span>
      <details class="from-to">
        <summary>Time range</summary>
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

const localOf = (iso: string | undefined) => (iso ? moment(iso).replace(' ', 'T') : '')

const titles: [FacetKey, string][] = [
  ['validity', 'Validity'],
  ['type', 'Type'],
  ['topic', 'Topic'],
  ['publisher', 'Publisher'],
  ['why', 'Reason'],
]

function FacetPanel({ session, filter }: { session: LiveSession; filter: EventFilter }) {
  const isNarrow = useMedia('(max-width: 800px)')
  const facets = session.facets.value
  return (
    <aside class="facets" aria-label="Filters">
      <details open={!isNarrow} key={String(isNarrow)}>
        <summary>Filters</summary>
        {facets?.isAtLeast && <p class="quiet">These counts are for the newest {count(facets.total)} events.</p>}
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
            <Button
              aria-pressed={isChosen(filter, name, value)}
              onClick={() => go(`/${searchOf(toggled(filter, name, value))}`)}
            >
              <span class="value">
                <Breakable text={value} />
              </span>
              <span class="many">{count(many)}</span>
            </Button>
          </li>
        ))}
      </ul>
      {values.length > few && (
        <Button class="more" onClick={() => (isWhole.value = !isWhole.value)}>
          {isWhole.value ? 'Show fewer' : `Show ${values.length - few} more`}
        </Button>
      )}
    </section>
  )
}
