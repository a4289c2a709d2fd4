import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type DeadLetterEntry, type DeadLetterGroup, type Page, type Problem, paths } from '../../../src/api/index.ts'
import { get, queryOf } from '../../data/api.ts'
import { asProblem, useLoad } from '../../data/load.ts'
import { jobs } from '../../data/stream.ts'
import { count } from '../../lib/format.ts'
import { hrefs } from '../../lib/route.ts'
import { Answer, ProblemBox } from '../../parts/answers.tsx'
import { EntryTable } from './entry-table.tsx'
import { ResendMany } from './resend-many.tsx'

/** The entries of one group, to be opened one by one or resent together. */
export function Entries({ group, state }: { group: DeadLetterGroup; state: 'open' | 'resent' }) {
  const query = { group: group.id, state, limit: 50 }
  const { state: loaded, again } = useLoad<Page<DeadLetterEntry>>(`${paths.deadLetterEntries}${queryOf(query)}`)
  const more = useSignal<{ items: DeadLetterEntry[]; next: string | null } | null>(null)
  const problem = useSignal<Problem | null>(null)
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const ended = [...jobs.value.values()].filter(({ state }) => state !== 'running').length
  useEffect(() => {
    if (ended > 0) again()
  }, [ended])
  useEffect(() => {
    more.value = null
    chosen.value = new Set()
  }, [loaded.value.data])
  const goOn = async (cursor: string) => {
    try {
      const page = await get<Page<DeadLetterEntry>>(`${paths.deadLetterEntries}${queryOf({ ...query, cursor })}`)
      more.value = { items: [...(more.value?.items ?? []), ...page.items], next: page.next }
    } catch (error) {
      problem.value = asProblem(error)
    }
  }
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
          href={`${hrefs.group(group.id)}&state=resent`}
          class="tab"
          aria-current={state === 'resent' ? 'true' : undefined}
        >
          Resent {count(group.entries - group.open)}
        </a>
        {state === 'open' && <ResendMany group={group} chosen={[...chosen.value]} />}
      </div>
      <Answer of={loaded.value} again={again}>
        {(page) => {
          const items = [...page.items, ...(more.value?.items ?? [])]
          const next = more.value ? more.value.next : page.next
          if (items.length === 0)
            return <p class="quiet">{state === 'open' ? 'None is open: all were resent.' : 'None was resent yet.'}</p>
          return (
            <>
              <EntryTable items={items} chosen={chosen.value} choose={state === 'open' ? choose : null} />
              <p class="quiet">
                {count(items.length)} of {count(page.complete.total)} shown{' '}
                {next && (
                  <button type="button" onClick={() => goOn(next)}>
                    More
                  </button>
                )}
              </p>
            </>
          )
        }}
      </Answer>
      {problem.value && <ProblemBox problem={problem.value} />}
    </section>
  )
}
