import { useComputed } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { go, search } from '../../data/location.ts'
import { useTitle } from '../../data/title.ts'
import { filterOf, searchOf } from '../../lib/filters.ts'
import { shownOf } from '../../lib/format.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { RateStrip } from '../../parts/rate-strip.tsx'
import { TruthLine } from '../../parts/truth-line.tsx'
import type { View } from '../../parts/view.ts'
import { Counters } from './counters.tsx'
import { EventList } from './event-list.tsx'
import { FacetPanel } from './facet-panel.tsx'
import { FilterBar } from './filter-bar.tsx'
import { LiveSession } from './session.ts'

const spanOf = (query: string) =>
  Math.min(604_800, Math.max(60, Number(new URLSearchParams(query).get('seconds')) || 600))

/** What happens, as it happens. */
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
      <TruthLine complete={total?.complete} shown={total ? shownOf(shown, total) : undefined} />
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
