import { type ConversationDeadlines, type OpenDeadline, paths } from '../../../src/api/index.ts'
import { may } from '../../data/api.ts'
import { useLoad } from '../../data/load.ts'
import { shortId, until } from '../../lib/format.ts'
import { State } from '../../parts/marks.tsx'

/** The open deadlines of the entities in a conversation. The conversation does not wait for them. */
export function Waits({ correlationId }: { correlationId: string }) {
  const { state } = useLoad<ConversationDeadlines>(
    may('deadlines:read') ? paths.conversationDeadlines(correlationId) : null,
    10_000,
  )
  const { data, problem } = state.value
  const items = data?.items ?? []
  const failed = problem ? ['The deadlines of this conversation are unknown.'] : unknownIn(data)
  if (items.length + failed.length === 0) return null
  return (
    <ul class="plain-list" aria-label="Open deadlines">
      {items.map((item) => (
        <li key={`${item.id} ${item.deadline}`}>
          <a href="/deadlines">
            {item.entity} {shortId(item.id)}
          </a>{' '}
          <Wait item={item} />
        </li>
      ))}
      {failed.map((text) => (
        <li key={text}>
          <State kind="warn">{text}</State>
        </li>
      ))}
    </ul>
  )
}

const unknownIn = (data: ConversationDeadlines | null) =>
  data?.problems.map(({ service, problem }) => `The deadlines of ${service} are unknown: ${problem}.`) ?? []

function Wait({ item: { deadline, due, isFired } }: { item: OpenDeadline }) {
  const time = (
    <time dateTime={due} title={due}>
      {until(due)}
    </time>
  )
  if (isFired)
    return (
      <State kind="warn">
        was due at {time}: {deadline} has passed, and is not decided
      </State>
    )
  if (Date.parse(due) <= Date.now())
    return (
      <State kind="warn">
        {deadline} is overdue since {time}
      </State>
    )
  return (
    <>
      waits for {deadline} until {time}
    </>
  )
}
