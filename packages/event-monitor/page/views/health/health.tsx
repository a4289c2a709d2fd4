import { useComputed } from '@preact/signals'
import { type HealthView, paths, type Rates } from '../../../src/api/index.ts'
import { useLoad } from '../../data/load.ts'
import { go } from '../../data/location.ts'
import { useTitle } from '../../data/title.ts'
import { searchOf } from '../../lib/filters.ts'
import { bytes, count, duration, rate } from '../../lib/format.ts'
import { lagText, troubles } from '../../lib/health-words.ts'
import { stripOf } from '../../lib/strip.ts'
import { Answer } from '../../parts/answers.tsx'
import { Columns } from '../../parts/columns.tsx'
import { State, Time } from '../../parts/marks.tsx'
import { RateStrip } from '../../parts/rate-strip.tsx'
import { TruthLine } from '../../parts/truth-line.tsx'
import type { View } from '../../parts/view.ts'
import { Lags } from './lags.tsx'
import { Parts } from './parts.tsx'
import { Topics } from './topics.tsx'

/** How everything is, and how fast. */
export const Health: View<'health'> = () => {
  useTitle('Health')
  const { state, again } = useLoad<HealthView>(paths.health, 2000)
  const { data } = state.value
  return (
    <article class="page">
      <TruthLine complete={data?.complete} />
      <h1>Health</h1>
      <Answer of={state.value} again={again}>
        {(health) => (
          <>
            {/* What was well before is no word on now. */}
            {!state.value.problem && <Summary health={health} />}
            <Throughput />
            <Tiles health={health} />
            <div class="columns">
              <Parts health={health} />
              <Latency latency={health.latency} />
              <Lags groups={health.groups} />
              <Topics topics={health.topics} />
            </div>
            <p class="quiet">
              As of <Time iso={health.at} />. In a terminal: <code>make status</code>
            </p>
          </>
        )}
      </Answer>
    </article>
  )
}

function Summary({ health }: { health: HealthView }) {
  const wrong = troubles(health)
  if (wrong.length === 0) {
    return (
      <p>
        <State kind="good">Everything that should run does.</State>
      </p>
    )
  }
  return (
    <ul class="plain-list" aria-label="What is wrong">
      {wrong.map((text) => (
        <li key={text} class="problem">
          <span aria-hidden="true">✕</span> {text}
          {!health.settings.includes(text) && (
            <>
              . <code>make logs</code> says more, <code>make up</code> starts what is missing.
            </>
          )}
        </li>
      ))}
    </ul>
  )
}

/** Of the last hour. */
function Throughput() {
  const { state } = useLoad<Rates>(`${paths.rates}?seconds=3600`, 10_000)
  const strip = useComputed(() => state.value.data && stripOf(state.value.data))
  const mark = (from: number, to: number) =>
    go(`/${searchOf({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })}`)
  return (
    <section>
      <h2>Events a second, last hour</h2>
      <RateStrip strip={strip} marked={mark} />
    </section>
  )
}

function Tiles({ health: { index, groups, topics } }: { health: HealthView }) {
  const lag = groups.reduce((sum, each) => sum + each.lag, 0)
  const live = topics.filter(({ isDead }) => !isDead).reduce((sum, { perSecond }) => sum + perSecond, 0)
  const tiles: [string, string, string?][] = [
    [rate(live), 'events reach the log'],
    [lagText({ lag, isAtMost: groups.some(({ isAtMost }) => isAtMost) }), 'events wait for a service'],
    [count(index.events), `events in the index, ${rate(index.perSecond)}`],
    [bytes(index.bytesOnDisk), `on disk, ${index.segments} segments`],
    [bytes(index.memoryBytes), 'memory of the monitor'],
    [count(index.liveRowsDropped), 'rows left out of live views'],
  ]
  return (
    <div class="tiles">
      {tiles.map(([value, label]) => (
        <div class="card tile" key={label}>
          <div class="value">{value}</div>
          <p class="label">{label}</p>
        </div>
      ))}
    </div>
  )
}

function Latency({ latency }: { latency: HealthView['latency'] }) {
  return (
    <section>
      <h2>From cause to reaction, last minute</h2>
      {latency.length === 0 ? (
        <p class="quiet">
          No reaction in the last minute. Place an order: <code>make demo</code>
        </p>
      ) : (
        <div class="table-box">
          <table>
            <Columns of={['Reaction', { number: 'Half within' }, { number: '95 % within' }, { number: 'Count' }]} />
            <tbody>
              {latency.map(({ reaction, p50, p95, count: many }) => (
                <tr key={reaction}>
                  <td>{reaction}</td>
                  <td class="number">{duration(p50)}</td>
                  <td class="number">{duration(p95)}</td>
                  <td class="number">{count(many)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
