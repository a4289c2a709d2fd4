import { useSignal } from '@preact/signals'
import type { DeadLetterGroup, Job } from '../../../src/api/index.ts'
import { may } from '../../data/me.ts'
import { resend } from '../../data/resend.ts'
import { jobs } from '../../data/stream.ts'
import { useTask } from '../../data/task.ts'
import { counted, duration } from '../../lib/format.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { JobView } from './job-view.tsx'

/** Resends a group, or those that were chosen of it, as fast as somebody says. */
export function ResendMany({ group, chosen }: { group: DeadLetterGroup; chosen: string[] }) {
  const isAsking = useSignal(false)
  const perSecond = useSignal(50)
  const { busy, problem, run } = useTask<'beginning'>()
  const started = useSignal<Job | null>(null)
  const many = chosen.length || group.open
  const send = (event: Event) => {
    event.preventDefault()
    void run('beginning', async () => {
      const what = chosen.length > 0 ? { entries: chosen } : { group: group.id }
      started.value = await resend({ ...what, perSecond: perSecond.value })
      isAsking.value = false
    })
  }
  const job = started.value && (jobs.value.get(started.value.id) ?? started.value)
  return (
    <>
      <button
        type="button"
        disabled={many === 0 || !may('events:operate')}
        title={may('events:operate') ? undefined : 'Needs the scope events:operate'}
        onClick={() => (isAsking.value = true)}
      >
        {chosen.length > 0 ? `Resend ${chosen.length} chosen…` : `Resend all ${group.open} open…`}
      </button>
      {job && (
        <div class="own-job">
          <JobView job={job} />
        </div>
      )}
      {isAsking.value && (
        <Dialog title={`Resend ${counted(many, 'event')}?`} close={() => (isAsking.value = false)}>
          <form onSubmit={send}>
            <p>
              Each is published again to its topic, as it is. What every receiver would refuse again is left where it
              is, and listed. Whoever handled it already does nothing.
            </p>
            <label class="field">
              How many a second (1 to 1000)
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
                `Takes about ${duration((many / perSecond.value) * 1000)}. It can be stopped, and goes on when this page is closed.`}
            </p>
            {problem.value && <ProblemBox problem={problem.value} />}
            <div class="actions">
              <button type="submit" class="main" disabled={busy.value !== null}>
                {busy.value ? 'Beginning…' : `Resend ${counted(many, 'event')}`}
              </button>
            </div>
          </form>
        </Dialog>
      )}
    </>
  )
}
