import { type MissingReaction, type MissingReactions, paths } from '../../src/api/index.ts'
import { go, search } from '../data/location.ts'
import { duration, shownOf } from '../lib/format.ts'
import { hrefs } from '../lib/route.ts'
import { Empty } from '../parts/answers.tsx'
import { Choices } from '../parts/controls.tsx'
import { ConversationLink, PositionLink, State, TypeName } from '../parts/marks.tsx'
import { Table } from '../parts/tables.tsx'
import { AnswerView, type View } from '../parts/view.tsx'

const spans = [5, 30, 300, 3600].map((each) => [each, duration(each * 1000)] as const)

export const Missing: View<'missing'> = () => {
  const given = Number(new URLSearchParams(search.value).get('seconds'))
  const chosen = given ? Math.min(86_400, Math.max(1, given)) : undefined
  return (
    <AnswerView<MissingReactions>
      title="Missing reactions"
      path={`${paths.missing}?${chosen ? `seconds=${chosen}&` : ''}limit=100`}
      everyMs={5000}
      shown={(data) => shownOf(data.items.length, data)}
      above={(data) => <Spans chosen={chosen} rules={data?.rules ?? []} />}
    >
      {({ items, rules }) => (
        <>
          <ul class="quiet">
            {rules.map(({ cause, effects, by }) => (
              <li key={cause + by}>
                {cause} must be followed by {effects.join(' or ')}, published by {by}
              </li>
            ))}
          </ul>
          <Table
            columns={columns}
            rows={items}
            cells={cells}
            keyOf={({ cause }) => cause.id + cause.position.offset}
            open={({ cause }) => go(hrefs.conversation(cause.correlationId))}
            empty={<NoneMissing />}
          />
        </>
      )}
    </AnswerView>
  )
}

function Spans({ chosen, rules }: { chosen: number | undefined; rules: MissingReactions['rules'] }) {
  const usual = new Set(rules.map(({ within }) => within))
  const seconds = chosen ?? (usual.size === 1 ? [...usual][0] : undefined)
  return (
    <div class="actions" role="group" aria-label="Waiting for longer than">
      <span>Waiting for longer than</span>
      <Choices of={spans} chosen={seconds} choose={(each) => go(`/missing?seconds=${each}`)} />
    </div>
  )
}

const NoneMissing = () => (
  <Empty title="No event has waited longer than the chosen time.">
    <p>
      Events without their expected reaction appear here, with the likely reason. To publish events, run{' '}
      <code>make demo</code>
    </p>
  </Empty>
)

const columns = [['number', 'Waiting'], 'Missing reaction', 'Cause', 'Likely reason', 'Conversation'] as const

const cells = ({ cause, waiting, expected, by, likely: { why, text, entry } }: MissingReaction) => [
  duration(waiting * 1000),
  <>
    {expected.join(' or ')} <span class="quiet">by {by}</span>
  </>,
  <>
    <TypeName row={cause} /> <PositionLink position={cause.position} />
  </>,
  <>
    <State kind={why === 'index-behind' ? 'warn' : 'bad'}>{why}</State> <span class="whole">{text}</span>{' '}
    {entry && <a href={hrefs.entry(entry)}>edit and replay</a>}
  </>,
  <ConversationLink id={cause.correlationId} />,
]
