import { useSignal } from '@preact/signals'
import type { DeadLetterGroup, Job, Problem } from '../../../src/api/index.ts'
import { asProblem, useTask } from '../../data/load.ts'
import { replay, stop } from '../../data/replay.ts'
import { jobs } from '../../data/stream.ts'
import { count, counted, duration } from '../../lib/format.ts'
import { hrefs } from '../../lib/route.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { Button, Dialog } from '../../parts/controls.tsx'
import { PositionLink, State, Time } from '../../parts/marks.tsx'

export function ReplayMany({ group, chosen }: { group: DeadLetterGroup; chosen: string[] }) {
  const isAsking = useSignal(false)
  const perSecond = useSignal(50)
  const { isBusy, problem, run } = useTask()
  const started = useSignal<Job | null>(null)
  const many = chosen.length || group.open
  const send = (event: Event) => {
    event.preventDefault()
    void run(async (signal) => {
      const what = chosen.length > 0 ? { entries: chosen } : { group: group.id }
      const job = await replay({ ...what, perSecond: perSecond.value })
      if (signal.aborted) return
      started.value = job
      isAsking.value = false
    })
  }
  const job = started.value && (jobs.value.get(started.value.id) ?? started.value)
  return (
    <>
      <Button needs="events:operate" disabled={many === 0} onClick={() => (isAsking.value = true)}>
        {chosen.length > 0 ? `Replay ${chosen.length} selected…` : `Replay all ${group.open} open…`}
      </Button>
      {job && (
        <div class="own-job">
          <JobView job={job} />
        </div>
      )}
      {isAsking.value && (
        <Dialog title={`Replay ${counted(many, 'event')}?`} close={() => (isAsking.value = false)}>
          <form onSubmit={send}>
            <p>
              The monitor publishes each event to its topic again, without changes. It skips events that all services
              would reject again, and lists them. A service ignores events that it has already handled.
            </p>
            <label class="field">
              Events per second (1 to 1000)
              <input
                type="number"
                min={1}
                max={1000}
                required
                value={perSecond.value}
                onInput={({ currentTarget }) => (perSecond.value = currentTarget.valueAsNumber)}
              />
            </label>
            <p class="quiet">
              {perSecond.value >= 1 &&
                `The replay takes about ${duration((many / perSecond.value) * 1000)}. You can stop it. It continues after you close this page.`}
            </p>
            {problem.value && <ProblemBox problem={problem.value} />}
            <div class="actions">
              <button type="submit" class="main" disabled={isBusy.value}>
                {isBusy.value ? 'Starting…' : `Replay ${counted(many, 'event')}`}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  )
}

const states = {
  running: ['plain', 'running'],
  done: ['good', 'done'],
  stopped: ['warn', 'stopped'],
  failed: ['bad', 'failed'],
} as const

export function JobView({ job }: { job: Job }) {
  const problem = useSignal<Problem | null>(null)
  const [kind, text] = states[job.state]
  const handled = job.replayed + job.refused + job.done
  const end = () => stop(job.id).catch((error) => (problem.value = asProblem(error)))
  return (
    <section class="card job" aria-label={`Replay job of ${job.startedAt}`}>
      <div class="job-line">
        <State kind={kind}>{text}</State>
        <progress max={Math.max(1, job.total)} value={handled} aria-label="Handled" />
        <span>
          {count(handled)} of {count(job.total)}
        </span>
        <span class="quiet">
          <Time iso={job.startedAt} />, by {job.by}
          {job.total > 1 && `, ${job.perSecond} per second`}
          {job.edited && ', edited'}
        </span>
        {job.state === 'running' && <Button onClick={end}>Stop</Button>}
      </div>
      <p role="status">
        {count(job.replayed)} replayed, {count(job.refused)} refused, {count(job.done)} already replayed
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
          {result === 'refused' && <span class="mark bad">refused: {why.join('; ')}</span>}
          {result !== 'refused' && as && `${result === 'done' ? 'already replayed' : 'replayed'} as `}
          {result !== 'refused' && as && <PositionLink position={as} />}
        </li>
      ))}
    </ul>
  )
  if (total === 1) return list
  return (
    <details>
      <summary>Results{outcomes.length < total && ` (the newest ${outcomes.length})`}</summary>
      {list}
    </details>
  )
}
