import { type Publisher, type Publishers, paths } from '../../src/api/index.ts'
import { useTitle } from '../data/announce.ts'
import { useLoad } from '../data/load.ts'
import { go } from '../data/location.ts'
import { searchOf } from '../lib/filters.ts'
import { count, counted } from '../lib/format.ts'
import { Answer, Empty, TryDemo } from '../parts/answers.tsx'
import { publisherOf, State, Time } from '../parts/marks.tsx'
import { Columns, useActiveRow } from '../parts/tables.tsx'
import { CompletenessLine, type View } from '../parts/view.tsx'

export const PublishersView: View<'publishers'> = () => {
  useTitle('Publishers')
  const { state, again } = useLoad<Publishers>(paths.publishers, 5000)
  const { data } = state.value
  return (
    <article class="page">
      <CompletenessLine complete={data?.complete} shown={data ? counted(data.items.length, 'publisher') : undefined} />
      <h1>Publishers</h1>
      <Answer of={state.value} again={again}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="No publishers yet.">
              <TryDemo />
            </Empty>
          ) : (
            <Table items={items} />
          )
        }
      </Answer>
    </article>
  )
}

const trusted = {
  service: ['good', 'service'],
  listed: ['good', 'listed'],
  unlisted: ['warn', 'not listed'],
} as const

const eventsOf = (publisher: Publisher) => `/${searchOf({ publisher: [publisher.appId ?? publisher.appName ?? ''] })}`

function Table({ items }: { items: Publisher[] }) {
  const active = useActiveRow(items.length, (index) => {
    const publisher = items[index]
    if (publisher) go(eventsOf(publisher))
  })
  return (
    <div class="table-box">
      <table class="stacked">
        <Columns
          of={[
            'Publisher',
            'Trust',
            { number: 'Events' },
            { number: 'Not valid' },
            'Variant',
            'Publishes',
            'Last event',
          ]}
        />
        <tbody>
          {items.map((publisher, index) => (
            <Row key={`${publisher.appId}${publisher.appName}`} publisher={publisher} isActive={index === active} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ publisher, isActive }: { publisher: Publisher; isActive: boolean }) {
  const { appId, trust, events, full, reduced, invalid, types, lastSeen, firstSeen } = publisher
  const [kind, text] = trusted[trust]
  return (
    <tr class={isActive ? 'is-active' : ''}>
      <td data-name="Publisher">
        <a href={eventsOf(publisher)}>{publisherOf(publisher)}</a>
        {appId && <div class="quiet id">{appId}</div>}
      </td>
      <td data-name="Trust">
        <State kind={kind}>{text}</State>
      </td>
      <td data-name="Events" class="number">
        {count(events)}
      </td>
      <td data-name="Not valid" class="number">
        {invalid === 0 ? '0' : <State kind="bad">{`${count(invalid)} (${percent(invalid, events)})`}</State>}
      </td>
      <td data-name="Variant">
        {full > 0 && `${count(full)} full`}
        {full > 0 && reduced > 0 && ', '}
        {reduced > 0 && `${count(reduced)} reduced`}
      </td>
      <td data-name="Publishes">
        {types.map(({ type, topic, count: many }) => (
          <div key={type + topic}>
            {type}{' '}
            <span class="quiet">
              to {topic}: {count(many)}
            </span>
          </div>
        ))}
      </td>
      <td data-name="Last event">
        <Time iso={lastSeen} />
        <div class="quiet">
          first <Time iso={firstSeen} />
        </div>
      </td>
    </tr>
  )
}

const percent = (part: number, whole: number) => {
  const value = (100 * part) / Math.max(1, whole)
  return value > 0 && value < 0.1 ? 'less than 0.1 %' : `${value.toFixed(value < 10 ? 1 : 0)} %`
}
