import { type Publisher, type Publishers, paths } from '../../src/api/index.ts'
import { go } from '../data/location.ts'
import { searchOf } from '../lib/filters.ts'
import { count, counted } from '../lib/format.ts'
import { Empty, TryDemo } from '../parts/answers.tsx'
import { publisherOf, State, Time } from '../parts/marks.tsx'
import { Table } from '../parts/tables.tsx'
import { AnswerView, type View } from '../parts/view.tsx'

export const PublishersView: View<'publishers'> = () => (
  <AnswerView<Publishers>
    title="Publishers"
    path={paths.publishers}
    everyMs={5000}
    shown={({ items }) => counted(items.length, 'publisher')}
  >
    {({ items }) => (
      <Table
        columns={columns}
        rows={items}
        cells={cells}
        keyOf={({ appId, appName }) => `${appId}${appName}`}
        open={(publisher) => go(eventsOf(publisher))}
        empty={<NoPublishers />}
      />
    )}
  </AnswerView>
)

const NoPublishers = () => (
  <Empty title="No publishers yet.">
    <TryDemo />
  </Empty>
)

const trusted = {
  service: ['good', 'service'],
  listed: ['good', 'listed'],
  unlisted: ['warn', 'not listed'],
} as const

const eventsOf = (publisher: Publisher) => `/${searchOf({ publisher: [publisher.appId ?? publisher.appName ?? ''] })}`

const columns = [
  'Publisher',
  'Trust',
  ['number', 'Events'],
  ['number', 'Not valid'],
  'Variant',
  'Publishes',
  'Last event',
] as const

function cells(publisher: Publisher) {
  const { appId, trust, events, full, reduced, invalid, types, lastSeen, firstSeen } = publisher
  const [kind, text] = trusted[trust]
  return [
    <>
      <a href={eventsOf(publisher)}>{publisherOf(publisher)}</a>
      {appId && <div class="quiet id">{appId}</div>}
    </>,
    <State kind={kind}>{text}</State>,
    count(events),
    invalid === 0 ? '0' : <State kind="bad">{`${count(invalid)} (${percent(invalid, events)})`}</State>,
    [full > 0 && `${count(full)} full`, reduced > 0 && `${count(reduced)} reduced`].filter(Boolean).join(', '),
    types.map(({ type, topic, count: many }) => (
      <div key={type + topic}>
        {type}{' '}
        <span class="quiet">
          to {topic}: {count(many)}
        </span>
      </div>
    )),
    <>
      <Time iso={lastSeen} />
      <div class="quiet">
        first <Time iso={firstSeen} />
      </div>
    </>,
  ]
}

const percent = (part: number, whole: number) => {
  const value = (100 * part) / Math.max(1, whole)
  return value > 0 && value < 0.1 ? 'less than 0.1 %' : `${value.toFixed(value < 10 ? 1 : 0)} %`
}
