import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import {
  type DeadLetterEntry,
  type DeadLetterGroup,
  type DeadLetterGroups,
  type Page,
  paths,
} from '../../../src/api/index.ts'
import { get, queryOf } from '../../data/api.ts'
import { useLoad, useTask } from '../../data/load.ts'
import { go, search } from '../../data/location.ts'
import { useJobs } from '../../data/replay.ts'
import { jobs } from '../../data/stream.ts'
import { count, counted } from '../../lib/format.ts'
import { hrefs } from '../../lib/route.ts'
import { Answer, Empty, ProblemBox } from '../../parts/answers.tsx'
import { Button } from '../../parts/controls.tsx'
import { PositionLink, RejectedBy, State, Time } from '../../parts/marks.tsx'
import { Table } from '../../parts/tables.tsx'
import { AnswerView, type View } from '../../parts/view.tsx'
import { JobView, ReplayMany } from './replay.tsx'

export const DeadLetters: View<'dead'> = () => {
  const params = new URLSearchParams(search.value)
  const id = params.get('group')
  const state = params.get('state') === 'replayed' ? 'replayed' : 'open'
  return (
    <AnswerView<DeadLetterGroups>
      title="Dead letters"
      path={paths.deadLetters}
      everyMs={5000}
      shown={({ groups, open }) => `${counted(groups.length, 'group')}, ${count(open)} open`}
      below={<Jobs />}
    >
      {({ groups, others }) => {
        const group = groups.find((each) => each.id === id)
        return (
          <>
            <Table
              columns={groupColumns}
              rows={groups}
              keyOf={({ id }) => id}
              cells={groupCells}
              isCurrent={(each) => each.id === id}
              open={({ id }) => go(hrefs.group(id))}
              empty={<NoDeadLetters />}
            />
            {others > 0 && (
              <p class="quiet">{counted(others, 'record')} in dead-letter topics were written by other programs.</p>
            )}
            {id !== null && !group && groups.length > 0 && (
              <p>This group no longer exists. Choose another group above.</p>
            )}
            {group && <Entries group={group} state={state} key={group.id} />}
          </>
        )
      }}
    </AnswerView>
  )
}

function Jobs() {
  const jobs = useJobs()
  return (
    <section aria-label="Replay jobs">
      <h2>Replay jobs</h2>
      {jobs.value.length === 0 && (
        <p class="quiet">Replay jobs appear here. A job continues after you close this page.</p>
      )}
      {jobs.value.slice(0, 10).map((job) => (
        <JobView key={job.id} job={job} />
      ))}
    </section>
  )
}

const NoDeadLetters = () => (
  <Empty title="No dead letters.">
    <p>
      Events that a service rejects appear here, with the reason. To create an example, run{' '}
      <code>./orderflow publish envelope-schema/fixtures/invalid/payload-problems.json --raw</code>
    </p>
  </Empty>
)

const groupColumns = [
  ...['Reason', 'Event', ['whole', 'Publisher'], 'Rejected by'],
  ...[['number', 'Open'], ['number', 'Total'], 'Newest'],
] as const

const groupCells = (group: DeadLetterGroup) => [
  <>
    <a href={hrefs.group(group.id)}>
      <strong>{group.reason}</strong>
    </a>{' '}
    {group.pointer && <code>{group.pointer}</code>} <span class="whole">{group.message}</span>
  </>,
  group.name ? `${group.name}@${group.version ?? '?'}` : '(no name)',
  group.publisher ?? '(unknown)',
  group.services.join(', '),
  group.open > 0 ? <strong>{count(group.open)}</strong> : <State kind="good">0</State>,
  count(group.entries),
  <Time iso={group.newest} />,
]

function Entries({ group, state }: { group: DeadLetterGroup; state: 'open' | 'replayed' }) {
  const query = { group: group.id, state, limit: 50 }
  const { state: loaded, again } = useLoad<Page<DeadLetterEntry>>(`${paths.deadLetterEntries}${queryOf(query)}`)
  const more = useSignal<{ items: DeadLetterEntry[]; next: string | null } | null>(null)
  const loading = useTask()
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const ended = [...jobs.value.values()].filter(({ state }) => state !== 'running').length
  useEffect(() => {
    if (ended > 0) again()
  }, [ended])
  useEffect(() => {
    // A page that is still loading belongs to the previous list.
    loading.cancel()
    more.value = null
    chosen.value = new Set()
  }, [loaded.value.data])
  const goOn = (cursor: string) =>
    loading.run(async (signal) => {
      const path = `${paths.deadLetterEntries}${queryOf({ ...query, cursor })}`
      const page = await get<Page<DeadLetterEntry>>(path, signal)
      more.value = { items: [...(more.value?.items ?? []), ...page.items], next: page.next }
    })
  const select = (id: string, isChosen: boolean) => {
    chosen.value = new Set(isChosen ? [...chosen.value, id] : [...chosen.value].filter((each) => each !== id))
  }
  const selectBox = (id: string) => (
    <input
      type="checkbox"
      aria-label={`Select ${id}`}
      checked={chosen.value.has(id)}
      onChange={({ currentTarget }) => select(id, currentTarget.checked)}
    />
  )
  return (
    <section aria-label="Entries of the group">
      <h2>
        {group.reason} {group.pointer && <code>{group.pointer}</code>} of {group.name ?? '(no name)'}, from{' '}
        {group.publisher ?? '(unknown)'}
      </h2>
      <div class="actions">
        <a href={hrefs.group(group.id)} class="tab" aria-current={state === 'open' ? 'true' : undefined}>
          Open {count(group.open)}
        </a>
        <a
          href={`${hrefs.group(group.id)}&state=replayed`}
          class="tab"
          aria-current={state === 'replayed' ? 'true' : undefined}
        >
          Replayed {count(group.entries - group.open)}
        </a>
        {state === 'open' && <ReplayMany group={group} chosen={[...chosen.value]} />}
      </div>
      <Answer of={loaded.value} again={again}>
        {(page) => {
          const items = [...page.items, ...(more.value?.items ?? [])]
          const next = more.value ? more.value.next : page.next
          if (items.length === 0)
            return <p class="quiet">{state === 'open' ? 'All entries were replayed.' : 'No entry was replayed yet.'}</p>
          return (
            <>
              <Table
                columns={[...(state === 'open' ? ([['unseen', 'Select']] as const) : []), ...entryColumns]}
                rows={items}
                keyOf={({ id }) => id}
                cells={(entry) => [...(state === 'open' ? [selectBox(entry.id)] : []), ...entryCells(entry)]}
                open={({ id }) => go(hrefs.entry(id))}
              />
              <p class="quiet">
                {count(items.length)} of {count(page.complete.total)} shown{' '}
                {next && (
                  <Button disabled={loading.isBusy.value} onClick={() => goOn(next)}>
                    Show more
                  </Button>
                )}
              </p>
            </>
          )
        }}
      </Answer>
      {loading.problem.value && <ProblemBox problem={loading.problem.value} />}
    </section>
  )
}

const entryColumns = [
  ...['Entry', 'Event position', 'Rejected by'],
  ...[['whole', 'Problem'], 'Failed', 'State'],
] as const

const entryCells = ({ id, origin, services, problem, reason, attempts, state }: DeadLetterEntry) => [
  <a class="id" href={hrefs.entry(id)} title={id}>
    {id.slice(0, 13)}
  </a>,
  <PositionLink position={origin} />,
  <RejectedBy services={services} />,
  problem ? (
    <>
      <code>{problem.pointer || '(document)'}</code> {problem.message}
    </>
  ) : (
    reason
  ),
  <>
    <Time iso={attempts.at(-1)?.at ?? ''} />
    {attempts.length > 1 && `, ${attempts.length} times`}
  </>,
  state,
]
