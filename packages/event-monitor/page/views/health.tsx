import { useComputed } from '@preact/signals'
import { type GroupLag, type HealthView, paths, type Rates, type TopicHealth } from '../../src/api/index.ts'
import { useLoad } from '../data/load.ts'
import { go } from '../data/location.ts'
import { searchOf } from '../lib/filters.ts'
import { bytes, count, duration, rate } from '../lib/format.ts'
import { stripOf } from '../lib/live-counts.ts'
import { hrefs, positionText } from '../lib/route.ts'
import { lagText, summedLags, troubles } from '../lib/words.ts'
import { State, Time } from '../parts/marks.tsx'
import { RateStrip } from '../parts/rate-strip.tsx'
import { Table } from '../parts/tables.tsx'
import { AnswerView, type View } from '../parts/view.tsx'

export const Health: View<'health'> = () => (
  <AnswerView<HealthView> title="Health" path={paths.health} everyMs={2000} shown={() => undefined}>
    {(health, problem) => (
      <>
        {/* Hides the old summary after a failed request, because the state may have changed. */}
        {!problem && <Summary health={health} />}
        <Throughput />
        <Tiles health={health} />
        <div class="columns">
          <Components health={health} />
          <Latency latency={health.latency} />
          <Lags groups={health.groups} />
          <Topics topics={health.topics} />
        </div>
        <p class="quiet">
          State at <Time iso={health.at} />. In a terminal, run <code>make status</code>
        </p>
      </>
    )}
  </AnswerView>
)

function Summary({ health }: { health: HealthView }) {
  const wrong = troubles(health)
  if (wrong.length === 0) {
    return (
      <p>
        <State kind="good">All services are running.</State>
      </p>
    )
  }
  return (
    <ul class="plain-list" aria-label="Problems">
      {wrong.map((text) => (
        <li key={text} class="problem">
          <span aria-hidden="true">✕</span> {text}
          {!health.settings.includes(text) && (
            <>
              . Run <code>make logs</code> for details, or <code>make up</code> to start missing parts.
            </>
          )}
        </li>
      ))}
    </ul>
  )
}

function Throughput() {
  const { state } = useLoad<Rates>(`${paths.rates}?seconds=3600`, 10_000)
  const strip = useComputed(() => state.value.data && stripOf(state.value.data))
  const mark = (from: number, to: number) =>
    go(`/${searchOf({ from: new Date(from).toISOString(), to: new Date(to).toISOString() })}`)
  return (
    <section>
      <h2>Events per second in the last hour</h2>
      <RateStrip strip={strip} marked={mark} />
    </section>
  )
}

function Tiles({ health: { index, groups, topics } }: { health: HealthView }) {
  const lag = groups.reduce((sum, each) => sum + each.lag, 0)
  const live = topics.filter(({ isDead }) => !isDead).reduce((sum, { perSecond }) => sum + perSecond, 0)
  const tiles: [string, string, string?][] = [
    [rate(live), 'events published to the log'],
    [lagText({ lag, isAtMost: groups.some(({ isAtMost }) => isAtMost) }), 'events waiting for a service'],
    [count(index.events), `events in the index, ${rate(index.perSecond)}`],
    [bytes(index.bytesOnDisk), `of the index on disk, ${index.segments} segments`],
    [bytes(index.memoryBytes), 'memory of the monitor'],
    [count(index.liveRowsDropped), 'rows omitted from live views'],
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

const Latency = ({ latency }: { latency: HealthView['latency'] }) => (
  <section>
    <h2>Reaction times in the last minute</h2>
    <Table
      columns={['Reaction', ['number', 'Median'], ['number', '95th percentile'], ['number', 'Count']]}
      rows={latency}
      keyOf={({ reaction }) => reaction}
      cells={({ reaction, p50, p95, count: many }) => [reaction, duration(p50), duration(p95), count(many)]}
      isStacked={false}
      empty={
        <p class="quiet">
          No reaction in the last minute. To publish events, run <code>make demo</code>
        </p>
      }
    />
  </section>
)

function Topics({ topics }: { topics: TopicHealth[] }) {
  const most = topics.reduce((rate, { perSecond }) => Math.max(rate, perSecond), 1)
  return (
    <section>
      <h2>Topics</h2>
      <Table
        columns={['Topic', ['number', 'Partitions'], ['number', 'Records (at most)'], ['number', 'Rate']]}
        rows={topics}
        keyOf={({ topic }) => topic}
        isStacked={false}
        cells={(topic) => [
          <>
            <a href={`/?topic=${encodeURIComponent(topic.topic)}`}>{topic.topic}</a>{' '}
            {topic.isDead && recordsOf(topic) > 0n && <State kind="warn">dead letters</State>}
            <span class="bar" aria-hidden="true">
              <span style={{ width: `${(100 * topic.perSecond) / most}%` }} />
            </span>
          </>,
          topic.partitions,
          count(Number(recordsOf(topic))),
          rate(topic.perSecond),
        ]}
      />
    </section>
  )
}

/** Returns the largest possible number of records in readable partitions. */
const recordsOf = ({ endOffset, oldestOffset }: TopicHealth) =>
  endOffset.reduce((total, end, partition) => {
    const oldest = oldestOffset[partition] ?? null
    return end === null || oldest === null ? total : total + BigInt(end) - BigInt(oldest)
  }, 0n)

function Lags({ groups }: { groups: GroupLag[] }) {
  const sums = summedLags(groups)
  return (
    <section>
      <h2>Consumer groups</h2>
      {sums.length === 0 ? (
        <p class="quiet">There are no consumer groups.</p>
      ) : (
        <ul class="plain-list">
          {sums.map(({ group, topic, lag, isAtMost, partitions }) => (
            <li key={group + topic} class="card group">
              <details>
                <summary>
                  <strong>{group}</strong> in {topic}:{' '}
                  {lag === 0 ? (
                    <State kind="good">0 events behind</State>
                  ) : (
                    <State kind={lag > 100 ? 'bad' : 'warn'}>{lagText({ lag, isAtMost })} events behind</State>
                  )}
                </summary>
                <Table
                  columns={['Partition', ['number', 'Position'], ['number', 'End'], ['number', 'Behind']]}
                  rows={partitions}
                  keyOf={({ partition }) => partition}
                  cells={({ partition, position, end, ...behind }) => [partition, position, end, lagText(behind)]}
                  isStacked={false}
                />
              </details>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Components({ health: { services, kafka } }: { health: HealthView }) {
  const components = services.map(({ name, state, reason, sidecar, url, warnings, redelivered }) => [
    url ? (
      <a href={url} target="_blank" rel="noreferrer">
        {name}
      </a>
    ) : (
      name
    ),
    <>
      <State kind={state === 'ready' ? 'good' : 'bad'}>{state}</State> <span class="whole">{reason}</span>
      {warnings.map((warning) => (
        <div key={warning}>
          <State kind="warn">warning</State> <span class="whole">{warning}</span>
        </div>
      ))}
      {redelivered.map(({ deliveries, ...position }) => (
        <div key={positionText(position)}>
          <State kind="bad">stuck</State> <a href={hrefs.event(position)}>{positionText(position)}</a> was delivered{' '}
          {deliveries} times and is still not handled
        </div>
      ))}
    </>,
    <State kind={sidecar === 'up' ? 'good' : sidecar === 'down' ? 'bad' : 'warn'}>{sidecar}</State>,
  ])
  const broker = (
    <>
      <State kind={kafka.isUp ? 'good' : 'bad'}>{kafka.isUp ? 'up' : 'does not answer'}</State>{' '}
      <span class="whole">{kafka.error}</span>
      {kafka.brokers.map(({ id, address, isController }) => (
        <div key={id} class="quiet">
          broker {id} at {address}
          {isController && ', controller'}
        </div>
      ))}
    </>
  )
  return (
    <section>
      <h2>Services and Kafka</h2>
      <Table
        columns={['Component', 'State', 'Sidecar']}
        rows={[...components, ['Kafka', broker, '–']]}
        keyOf={(_, index) => index}
        cells={(component) => component}
        isStacked={false}
      />
    </section>
  )
}
