import { useKeys } from '../../data/commands.ts'
import { count, counted } from '../../lib/format.ts'
import type { LiveSession } from './session.ts'

/** Exact numbers since the view was opened, whether it runs, and what is left out. */
export function Counters({ session }: { session: LiveSession }) {
  const { matched, invalid, lost, leftOut } = session.counters.value
  const waiting = session.waiting.value
  const toggle = () => {
    if (session.waiting.value === null) session.stop()
    else session.goOn()
    return true
  }
  useKeys({ pause: toggle })
  if (!session.isLive)
    return <p class="counters">A time that is over: nothing new comes. Take its end away to go on.</p>
  return (
    <div class="counters">
      <button type="button" class={waiting === null ? 'pause' : 'pause is-stopped'} onClick={toggle} title="Space">
        {waiting === null ? '‖ Stop' : `▶ ${count(waiting)} new: go on`}
      </button>
      <span>
        <strong>{count(matched)}</strong> since opened
      </span>
      {invalid > 0 && <span class="mark bad">✕ {count(invalid)} not valid</span>}
      {leftOut > 0 && (
        <span title="Every event is counted; at most 20 rows are sent each tenth of a second. All are in the index.">
          {counted(leftOut, 'row')} left out
        </span>
      )}
      {lost > 0 && <span class="mark warn">! {count(lost)} of them while this browser was too slow</span>}
    </div>
  )
}
