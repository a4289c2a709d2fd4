import { type DeadLetterGroups, paths } from '../../../src/api/index.ts'
import { useLoad } from '../../data/load.ts'
import { search } from '../../data/location.ts'
import { useJobs } from '../../data/resend.ts'
import { useTitle } from '../../data/title.ts'
import { count, counted } from '../../lib/format.ts'
import { Answer, Empty } from '../../parts/answers.tsx'
import { TruthLine } from '../../parts/truth-line.tsx'
import type { View } from '../../parts/view.ts'
import { Entries } from './entries.tsx'
import { GroupTable } from './group-table.tsx'
import { JobView } from './job-view.tsx'

/** What could not be handled: by group, a group's entries, and the jobs that mend them. */
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
      <TruthLine
        complete={data?.complete}
        shown={data ? `${counted(data.groups.length, 'group')}, ${count(data.open)} open` : undefined}
      />
      <h1>Dead letters</h1>
      <Answer of={state.value} again={again}>
        {({ groups, others }) => (
          <>
            {groups.length === 0 ? (
              <Empty title="Nothing has failed.">
                <p>
                  An event that no service can handle is set aside, and stands here with the reason. Try it:{' '}
                  <code>./orderflow publish envelope-schema/fixtures/invalid/payload-problems.json --raw</code>
                </p>
              </Empty>
            ) : (
              <GroupTable groups={groups} chosen={id} />
            )}
            {others > 0 && (
              <p class="quiet">
                {counted(others, 'record')} on dead-letter topics are no dead letters of these services.
              </p>
            )}
            {id !== null && !group && groups.length > 0 && <p>The group of this address is not there any more.</p>}
            {group && (
              <Entries group={group} state={params.get('state') === 'resent' ? 'resent' : 'open'} key={group.id} />
            )}
          </>
        )}
      </Answer>
      <section aria-label="Jobs">
        <h2>Jobs</h2>
        {jobs.value.length === 0 && (
          <p class="quiet">What is resent shows here how far it is; a job goes on when this page is closed.</p>
        )}
        {jobs.value.slice(0, 10).map((job) => (
          <JobView key={job.id} job={job} />
        ))}
      </section>
    </article>
  )
}
