import { type MissingReactions, paths } from '../../src/api/index.ts'
import { useTitle } from '../data/announce.ts'
import { useLoad } from '../data/load.ts'
import { go, search } from '../data/location.ts'
import { duration, shownOf } from '../lib/format.ts'
import { hrefs } from '../lib/route.ts'
import { Answer, Empty } from '../parts/answers.tsx'
import { ConversationLink, PositionLink, State, TypeName } from '../parts/marks.tsx'
import { Columns, useActiveRow } from '../parts/tables.tsx'
import { CompletenessLine, type View } from '../parts/view.tsx'

const spans = [5, 30, 300, 3600]

export const Missing: View<'missing'> = () => {
  useTitle('Missing reactions')
  const given = Number(new URLSearchParams(search.value).get('seconds'))
  const chosen = given ? Math.min(86_400, Math.max(1, given)) : undefined
  const { state, again } = useLoad<MissingReactions>(
    `${paths.missing}?${chosen ? `seconds=${chosen}&` : ''}limit=100`,
    5000,
  )
  const { data } = state.value
  const usual = new Set(data?.rules.map(({ within }) => within))
  const seconds = chosen ?? (usual.size === 1 ? [...usual][0] : undefined)
  return (
    <article class="page">
      <CompletenessLine complete={data?.complete} shown={data ? shownOf(data.items.length, data) : undefined} />
      <h1>Missing reactions</h1>
      <div class="actions" role="group" aria-label="Waiting for longer than">
        <span>Waiting for longer than</span>
        {spans.map((each) => (
          <button
            type="button"
            key={each}
            aria-pressed={each === seconds}
            onClick={() => go(`/missing?seconds=${each}`)}
          >
            {duration(each * 1000)}
          </button>
        ))}
      </div>
      <Answer of={state.value} again={again}>
        {({ items, rules }) => (
          <>
            <ul class="quiet">
              {rules.map(({ cause, effects, by }) => (
                <li key={cause + by}>
                  {cause} must be followed by {effects.join(' or ')}, published by {by}
                </li>
              ))}
            </ul>
            {items.length === 0 ? (
              <Empty title="No event has waited longer than the chosen time.">
                <p>
                  Events without their expected reaction appear here, with the likely reason. To publish events, run{' '}
                  <code>make demo</code>
                </p>
              </Empty>
            ) : (
              <MissingTable items={items} />
            )}
          </>
        )}
      </Answer>
    </article>
  )
}

function MissingTable({ items }: { items: MissingReactions['items'] }) {
  const active = useActiveRow(items.length, (index) => go(hrefs.conversation(items[index]?.cause.correlationId ?? '')))
  return (
    <div class="table-box">
      <table class="stacked">
        <Columns of={[{ number: 'Waiting' }, 'Missing reaction', 'Cause', 'Likely reason', 'Conversation']} />
        <tbody>
          {items.map(({ cause, waiting, expected, by, likely }, index) => (
            <tr key={cause.id + cause.position.offset} class={index === active ? 'is-active' : ''}>
              <td data-name="Waiting" class="number">
                {duration(waiting * 1000)}
              </td>
              <td data-name="Missing reaction">
                {expected.join(' or ')} <span class="quiet">by {by}</span>
              </td>
              <td data-name="Cause">
                <TypeName row={cause} /> <PositionLink position={cause.position} />
              </td>
              <td data-name="Likely reason">
                <State kind={likely.why === 'index-behind' ? 'warn' : 'bad'}>{likely.why}</State>{' '}
                <span class="whole">{likely.text}</span>
                {likely.entry && (
                  <>
                    {' '}
                    <a href={hrefs.entry(likely.entry)}>edit and replay</a>
                  </>
                )}
              </td>
              <td data-name="Conversation">
                <ConversationLink id={cause.correlationId} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
