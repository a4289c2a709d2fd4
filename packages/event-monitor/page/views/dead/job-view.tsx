import { useSignal } from '@preact/signals'
import type { Job, Problem } from '../../../src/api/index.ts'
import { asProblem } from '../../data/load.ts'
import { stop } from '../../data/resend.ts'
import { count } from '../../lib/format.ts'
import { hrefs } from '../../lib/route.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { PlaceLink, State, Time } from '../../parts/marks.tsx'

const states = {
  running: ['plain', 'running'],
  done: ['good', 'done'],
  stopped: ['warn', 'stopped'],
  failed: ['bad', 'failed'],
} as const

/** How far a job is, and what came of each. */
export function JobView({ job }: { job: Job }) {
  const problem = useSignal<Problem | null>(null)
  const [kind, text] = states[job.state]
  const handled = job.resent + job.refused + job.done
  const end = () => stop(job.id).catch((error) => (problem.value = asProblem(error)))
  return (
    <section class="card job" aria-label={`Job of ${job.startedAt}`}>
      <div class="job-line">
        <State kind={kind}>{text}</State>
        <progress max={Math.max(1, job.total)} value={handled} aria-label="Handled" />
        <span>
          {count(handled)} of {count(job.total)}
        </span>
        <span class="quiet">
          <Time iso={job.startedAt} />, by {job.by}
          {job.total > 1 && `, ${job.perSecond} a second`}
          {job.edited && ', edited'}
        </span>
        {job.state === 'running' && (
          <button type="button" onClick={end}>
            Stop
          </button>
        )}
      </div>
      <p role="status">
        {count(job.resent)} resent, {count(job.refused)} refused, {count(job.done)} already replayed
      </p>
      {job.error && <p class="mark bad">{job.error}</p>}
      {problem.value && <ProblemBox problem={problem.value} />}
      <Outcomes job={job} />
    </section>
  )
}

function Outcomes({ job: { outcomes, total } }: { job: Job }) {
  if (outcomes.length === 0) return null
  const list = (
    <ul class="outcomes">
      {outcomes.map(({ entry, result, as, why }) => (
        <li key={entry}>
          <a class="id" href={hrefs.entry(entry)}>
            {entry.slice(0, 8)}
          </a>{' '}
          {result === 'resent' && as && (
            <>
              resent as <PlaceLink place={as} />
            </>
          )}
          {result === 'done' && as && (
            <>
              already replayed as <PlaceLink place={as} />
            </>
          )}
          {result === 'refused' && <span class="mark bad">refused: {why.join('; ')}</span>}
        </li>
      ))}
    </ul>
  )
  if (total === 1) return list
  return (
    <details>
      <summary>What came of each{outcomes.length < total && ` (the newest ${outcomes.length})`}</summary>
      {list}
    </details>
  )
}
