import { parseGuid } from '@orderflow/envelope/inputs'
import { useSignal } from '@preact/signals'
import {
  type Deadlines,
  type FireRequest,
  type OpenDeadline,
  paths,
  type ServiceDeadlines,
  type UndecidedDeadline,
} from '../../src/api/index.ts'
import { may, post } from '../data/api.ts'
import { useTask } from '../data/load.ts'
import { count, counted, duration } from '../lib/format.ts'
import { hrefs } from '../lib/route.ts'
import { delayWords } from '../lib/words.ts'
import { Empty, ProblemBox } from '../parts/answers.tsx'
import { Button, Dialog } from '../parts/controls.tsx'
import { ConversationLink, State, Time } from '../parts/marks.tsx'
import { Table } from '../parts/tables.tsx'
import { AnswerView, type View } from '../parts/view.tsx'

type Answered = Extract<ServiceDeadlines, { problem: null }>
type Item = Answered['items'][number]

export const DeadlinesView: View<'deadlines'> = () => (
  <AnswerView<Deadlines>
    title="Deadlines"
    path={paths.deadlines}
    everyMs={10_000}
    shown={({ services }) =>
      `${counted(answeredIn(services).flatMap(({ items }) => items).length, 'open deadline')} shown`
    }
  >
    {({ services, undecided, undecidedTotal }) => (
      <>
        {services.length === 0 && <Empty title="No service has deadlines." />}
        {services.map((service) =>
          service.problem === null ? (
            <ServiceSection key={service.service} of={service} />
          ) : (
            <p key={service.service}>
              <State kind="bad">
                The deadlines of {service.service} are unknown: {service.problem}
              </State>
            </p>
          ),
        )}
        <Undecided items={undecided} total={undecidedTotal} />
      </>
    )}
  </AnswerView>
)

const answeredIn = (services: readonly ServiceDeadlines[]) =>
  services.filter((service): service is Answered & { service: string } => service.problem === null)

const countColumns = [
  'Deadline',
  ...(['Overdue', 'Next hour', 'Next day', 'Later'] as const).map((name) => ['number', name] as const),
]
const itemColumns = ['Due', 'Deadline', 'Entity', 'State', ['unseen', 'Action']] as const

function ServiceSection({ of: service }: { of: Answered & { service: string } }) {
  const { service: name, now, hold, unhandled, counts, isWhole, items, checked } = service
  return (
    <section aria-label={`Deadlines of ${name}`}>
      <h2>{name}</h2>
      <p>
        {hold ? (
          <State kind="bad">No deadline passes now: {delayWords[hold]}.</State>
        ) : (
          <State kind="good">Deadlines pass at their time.</State>
        )}{' '}
        <span class="quiet">
          {unhandled === null
            ? 'The number of unhandled deadlines is unknown'
            : `${counted(unhandled, 'passed deadline')} unhandled`}
          .
        </span>
      </p>
      <Table
        columns={countColumns}
        rows={counts}
        keyOf={({ entity, deadline }) => `${entity} ${deadline}`}
        cells={({ entity, deadline, overdue, nextHour, nextDay, later }) => [
          `${entity} ${deadline}`,
          overdue > 0 ? <State kind="warn">{count(overdue)}</State> : '0',
          ...[nextHour, nextDay, later].map(count),
        ]}
        empty={<Empty title={`${name} has no deadlines in its index.`} />}
      />
      {counts.length > 0 && (
        <p class="quiet">
          The numbers are upper bounds, because the index still has deadlines that have ended.
          {!isWhole && ' There are more deadlines, which pass later.'} The list below has the open ones among the{' '}
          {count(checked)} that pass first.
        </p>
      )}
      <Table
        columns={itemColumns}
        rows={items}
        keyOf={keyOf}
        cells={(item) => [
          <Due item={item} now={now} />,
          item.deadline,
          <Entity item={item} />,
          item.delayedBy ? (
            <>
              <State kind={item.isFired ? 'bad' : 'warn'}>{item.delayedBy}</State> {delayWords[item.delayedBy]}
            </>
          ) : (
            'waits for its time'
          ),
          <FireNow item={item} />,
        ]}
        empty={<Empty title="No open deadline." />}
      />
    </section>
  )
}

const keyOf = ({ entity, id, deadline, due }: Item) => [entity, id, deadline, due].join(' ')

function Due({ item: { due }, now }: { item: Item; now: string }) {
  const left = Date.parse(due) - Date.parse(now)
  return (
    <>
      <Time iso={due} />{' '}
      <span class="quiet">{left > 0 ? `in ${duration(left)}` : `overdue by ${duration(-left)}`}</span>
    </>
  )
}

const Entity = ({ item: { entity, id } }: { item: OpenDeadline }) => (
  <>
    {entity} {parseGuid(id) ? <ConversationLink id={id} /> : <code>{id}</code>}
  </>
)

/** Returns the reason why the user cannot let a deadline pass. */
function obstacle({ id, isFired }: OpenDeadline): string | undefined {
  if (isFired) return 'It has passed. Replay its dead letter if its decision failed'
  if (!parseGuid(id)) return 'Its id is masked. Use the page of the service'
  return undefined
}

function FireNow({ item }: { item: OpenDeadline }) {
  const isAsking = useSignal(false)
  const isDone = useSignal(false)
  const { isBusy, problem, run } = useTask()
  const reason = obstacle(item)
  const { service, entity, id, deadline, due } = item
  const send = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      await post(paths.deadlineFire, { service, entity, id, deadline, due } satisfies FireRequest)
      isDone.value = true
      isAsking.value = false
    })
  }
  if (isDone.value) return <State kind="good">passed</State>
  return (
    <>
      <Button
        needs="deadlines:operate"
        disabled={reason !== undefined}
        title={reason}
        aria-label={`Fire now… ${deadline} of ${entity} ${id}`}
        onClick={() => (isAsking.value = true)}
      >
        Fire now…
      </Button>
      {reason !== undefined && may('deadlines:operate') && <span class="only-read">{reason}</span>}
      {isAsking.value && (
        <Dialog title={`Fire ${deadline} now?`} close={() => (isAsking.value = false)}>
          <form onSubmit={send}>
            <p>
              {service} then decides about {entity} <code class="whole">{id}</code> as if <Time iso={due} /> had come.
              You cannot undo this. The audit log records your name.
            </p>
            {problem.value && <ProblemBox problem={problem.value} />}
            <div class="actions">
              <button type="submit" class="main" disabled={isBusy.value}>
                {isBusy.value ? 'Asking…' : `Fire ${deadline}`}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  )
}

const undecidedColumns = ['Passed', 'Deadline', 'Rejected by', 'Reason', 'Dead letter', 'Conversation']

function Undecided({ items, total }: { items: readonly UndecidedDeadline[]; total: number }) {
  return (
    <section aria-label="Undecided deadlines">
      <h2>Undecided</h2>
      <p class="quiet">
        These deadlines have passed, but their decision failed. Replay the dead letter after the correction.
        {total > items.length && ` The newest ${count(items.length)} of ${count(total)} are shown.`}
      </p>
      <Table
        columns={undecidedColumns}
        rows={items}
        keyOf={({ entry }) => entry}
        cells={({ at, entity, deadline, service, reason, entry, correlationId }) => [
          at === null ? 'unknown' : <Time iso={at} />,
          [entity, deadline].filter(Boolean).join(' ') || 'unknown',
          service,
          <State kind="bad">{reason}</State>,
          <a href={hrefs.entry(entry)}>edit and replay</a>,
          correlationId && <ConversationLink id={correlationId} />,
        ]}
        empty={<Empty title="Each deadline that has passed was decided." />}
      />
    </section>
  )
}
