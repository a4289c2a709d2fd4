import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import {
  type DeadLetterEntry,
  type DeadLetterGroup,
  type DeadLetterGroups,
  type Page,
  paths,
} from '../../../src/api/index.ts'
import { useTitle } from '../../data/announce.ts'
import { get, queryOf } from '../../data/api.ts'
import { useLoad, useTask } from '../../data/load.ts'
import { go, search } from '../../data/location.ts'
import { useJobs } from '../../data/replay.ts'
import { jobs } from '../../data/stream.ts'
import { count, counted } from '../../lib/format.ts'
import { hrefs } from '../../lib/route.ts'
import { Answer, Empty, ProblemBox } from '../../parts/answers.tsx'
import { PositionLink, RejectedBy, State, Time } from '../../parts/marks.tsx'
import { Columns, useActiveRow } from '../../parts/tables.tsx'
import { CompletenessLine, type View } from '../../parts/view.tsx'
import { JobView, ReplayMany } from './replay.tsx'

export const DeadLetters: View<'dead'> = () => {
  useTitle('Dead letters')
  const params = new URLSearchParams(search.value)
  const id = params.get('group')
  const { state, again } = useLoad<DeadLetterGroups>(paths.deadLetters, 5000)
  const jobs = useJobs()
  const { data } = state.value
  const group = data?.groups.find((each) => each.id === id)
  return (
    <article class="page">
      <CompletenessLine
        complete={data?.complete}
        shown={data ? `${counted(data.groups.length, 'group')}, ${count(data.open)} open` : undefined}
      />
      <h1>Dead letters</h1>
      <Answer of={state.value} again={again}>
        {({ groups, others }) => (
          <>
            {groups.length === 0 ? (
              <Empty title="No dead letters.">
                <p>
                  Events that a service rejects appear here, with the reason. To create an example, run{' '}
                  <code>./orderflow publish envelope-schema/fixtures/invalid/payload-problems.json --raw</code>
                </p>
              </Empty>
            ) : (
              <GroupTable groups={groups} chosen={id} />
            )}
            {others > 0 && (
              <p class="quiet">{counted(others, 'record')} in dead-letter topics were written by other programs.</p>
            )}
            {id !== null && !group && groups.length > 0 && (
              <p>This group no longer exists. Choose another group above.</p>
            )}
            {group && (
              <Entries group={group} state={params.get('state') === 'replayed' ? 'replayed' : 'open'} key={group.id} />
            )}
          </>
        )}
      </Answer>
      <section aria-label="Replay jobs">
        <h2>Replay jobs</h2>
        {jobs.value.length === 0 && (
          <p class="quiet">Replay jobs appear here. A job continues after you close this page.</p>
        )}
        {jobs.value.slice(0, 10).map((job) => (
          <JobView key={job.id} job={job} />
        ))}
      </section>
    </article>
  )
}

function GroupTable({ groups, chosen }: { groups: DeadLetterGroup[]; chosen: string | null }) {
  const active = useActiveRow(groups.length, (index) => go(hrefs.group(groups[index]?.id ?? '')))
  return (
    <div class="table-box">
      <table class="stacked">
        <Columns
          of={['Reason', 'Event', 'Publisher', 'Rejected by', { number: 'Open' }, { number: 'Total' }, 'Newest']}
        />
        <tbody>
          {groups.map((group, index) => (
            <tr
              key={group.id}
              class={active === index ? 'is-active' : ''}
              aria-current={group.id === chosen ? 'true' : undefined}
            >
              <td data-name="Reason">
                <a href={hrefs.group(group.id)}>
                  <strong>{group.reason}</strong>
                </a>{' '}
                {group.pointer && <code>{group.pointer}</code>} <span class="whole">{group.message}</span>
              </td>
              <td data-name="Event">{group.name ? `${group.name}@${group.version ?? '?'}` : '(no name)'}</td>
              <td data-name="Publisher" class="whole">
                {group.publisher ?? '(unknown)'}
              </td>
              <td data-name="Rejected by">{group.services.join(', ')}</td>
              <td data-name="Open" class="number">
                {group.open > 0 ? <strong>{count(group.open)}</strong> : <State kind="good">0</State>}
              </td>
              <td data-name="Total" class="number">
                {count(group.entries)}
              </td>
              <td data-name="Newest">
                <Time iso={group.newest} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Entries({ group, state }: { group: DeadLetterGroup; state: 'open' | 'replayed' }) {
  const query = { group: group.id, state, limit: 50 }
  const { state: loaded, again } = useLoad<Page<DeadLetterEntry>>(`${paths.deadLetterEntries}${queryOf(query)}`)
  const more = useSignal<{ items: DeadLetterEntry[]; next: string | null } | null>(null)
  const loading = useTask<'more'>()
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
    loading.run('more', async (signal) => {
      const path = `${paths.deadLetterEntries}${queryOf({ ...query, cursor })}`
      const page = await get<Page<DeadLetterEntry>>(path, signal)
      more.value = { items: [...(more.value?.items ?? []), ...page.items], next: page.next }
    })
  const choose = (id: string, isChosen: boolean) => {
    const next = new Set(chosen.value)
    if (isChosen) next.add(id)
    else next.delete(id)
    chosen.value = next
  }
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
              <EntryTable items={items} chosen={chosen.value} choose={state === 'open' ? choose : null} />
              <p class="quiet">
                {count(items.length)} of {count(page.complete.total)} shown{' '}
                {next && (
                  <button type="button" disabled={loading.busy.value !== null} onClick={() => goOn(next)}>
                    Show more
                  </button>
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

interface Props {
  items: DeadLetterEntry[]
  chosen: ReadonlySet<string>
  /** Null if entries cannot be selected. */
  choose: ((id: string, isChosen: boolean) => void) | null
}

function EntryTable({ items, chosen, choose }: Props) {
  const active = useActiveRow(items.length, (index) => go(hrefs.entry(items[index]?.id ?? '')))
  return (
    <div class="table-box">
      <table class="stacked">
        <Columns
          of={[
            ...(choose ? [{ unseen: 'Select' }] : []),
            'Entry',
            'Event position',
            'Rejected by',
            'Problem',
            'Failed',
            'State',
          ]}
        />
        <tbody>
          {items.map((entry, index) => (
            <tr key={entry.id} class={active === index ? 'is-active' : ''}>
              {choose && (
                <td>
                  <input
                    type="checkbox"
                    aria-label={`Select ${entry.id}`}
                    checked={chosen.has(entry.id)}
                    onChange={({ currentTarget }) => choose(entry.id, currentTarget.checked)}
                  />
                </td>
              )}
              <td data-name="Entry">
                <a class="id" href={hrefs.entry(entry.id)} title={entry.id}>
                  {entry.id.slice(0, 13)}
                </a>
              </td>
              <td data-name="Event position">
                <PositionLink position={entry.origin} />
              </td>
              <td data-name="Rejected by">
                <RejectedBy services={entry.services} />
              </td>
              <td data-name="Problem" class="whole">
                {entry.problem ? (
                  <>
                    <code>{entry.problem.pointer || '(document)'}</code> {entry.problem.message}
                  </>
                ) : (
                  entry.reason
                )}
              </td>
              <td data-name="Failed">
                <Time iso={entry.attempts.at(-1)?.at ?? ''} />
                {entry.attempts.length > 1 && `, ${entry.attempts.length} times`}
              </td>
              <td data-name="State">{entry.state}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
