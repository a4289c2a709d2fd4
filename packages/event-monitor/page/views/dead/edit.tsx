import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import {
  type CheckResult,
  type DeadLetterDetail,
  type DryRunResult,
  type Job,
  paths,
  type RecordPosition,
} from '../../../src/api/index.ts'
import { may, post } from '../../data/api.ts'
import { asProblem, useTask } from '../../data/load.ts'
import { replay } from '../../data/replay.ts'
import { jobs } from '../../data/stream.ts'
import { draftOf, keepDraft } from '../../lib/drafts.ts'
import { positionIn, positionText } from '../../lib/route.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { Button } from '../../parts/controls.tsx'
import { DryRunView } from '../../parts/dry-run.tsx'
import { Editor } from '../../parts/editor.tsx'
import { PositionLink } from '../../parts/marks.tsx'
import { CheckView } from './check.tsx'
import { JobView } from './replay.tsx'

interface Props {
  detail: DeadLetterDetail
  editable: string
  again: () => void
}

/** Milliseconds without typing before the text is checked. */
const pause = 400

export function EditForm({ detail: { entry, attempt, refusals }, editable, again }: Props) {
  const newest = positionText(attempt)
  const draft = useMemo(() => draftOf(sessionStorage, entry.id), [entry.id])
  /** The attempt that the user edits. A newer attempt may exist. */
  const base = useSignal({ attempt: draft ? (positionIn(draft.attempt) ?? attempt) : attempt, editable })
  const text = useSignal(draft?.text ?? editable)
  const check = useSignal<CheckResult | null>(null)
  const checking = useTask()
  const trial = useTask()
  const sending = useTask()
  const dryRun = useSignal<DryRunResult | null>(null)
  const started = useSignal<{ job: Job; attempt: string } | null>(null)
  const isKept = useSignal(true)
  const resets = useSignal(0)
  const isStale = positionText(base.value.attempt) !== newest
  const isEdited = text.value !== base.value.editable
  const isReadable = !isEdited || isJson(text.value)
  const edited = isEdited ? { edited: { text: text.value } } : {}
  const request = { attempt: base.value.attempt, ...edited }

  useEffect(() => {
    if (isStale && !isEdited) startOver()
  }, [newest])

  useEffect(() => {
    if (!may('events:operate')) return
    checking.cancel()
    check.value = null
    if (!isReadable || isStale) return
    const act = async (signal: AbortSignal) => {
      const checked = await post<CheckResult>(paths.deadLetterCheck(entry.id), request, { signal })
      if (!signal.aborted) check.value = checked
    }
    void checking.run(act, isEdited ? pause : 0)
  }, [text.value, base.value, isStale, may('events:operate')])

  const job = started.value && (jobs.value.get(started.value.job.id) ?? started.value.job)
  const isOver = job !== null && job.state !== 'running'
  // If the job refused the event or stopped before it, the user can try again.
  const isReplayed =
    isOver && job.replayed + job.done > 0 && started.value?.attempt === positionText(base.value.attempt)
  useEffect(() => {
    if (!isOver) return
    if (job?.replayed) keepDraft(sessionStorage, entry.id, null)
    again()
  }, [isOver])

  const change = (next: string) => {
    text.value = next
    trial.cancel()
    dryRun.value = null
    const made = next === base.value.editable ? null : { attempt: positionText(base.value.attempt), text: next }
    isKept.value = keepDraft(sessionStorage, entry.id, made)
  }
  const startOver = () => {
    base.value = { attempt, editable }
    change(editable)
    resets.value += 1
  }
  const useForNewest = () => {
    base.value = { attempt, editable }
    change(text.value)
  }
  const send = () =>
    sending.run(async () => {
      try {
        const job = await replay({ entries: [entry.id], ...request })
        started.value = { job, attempt: positionText(request.attempt) }
      } catch (error) {
        // Loads the newer attempt that caused the conflict.
        if (asProblem(error).status === 409) again()
        throw error
      }
    })
  const origin = base.value.attempt
  const isReady = check.value?.isReady === true
  const isBusy = [checking, trial, sending].some((task) => task.isBusy.value)
  const problems = [checking, trial, sending].flatMap(({ problem }) => problem.value ?? [])
  const result = dryRun.value ?? check.value?.dryRun
  return (
    <section class="edit" aria-label="Edit and replay">
      <h2>Edit and replay</h2>
      <p class="quiet">
        {editable ? (
          <>
            The text <code>"***{'{/Payload/…}'}***"</code> replaces a personal value. You can move this text or rename
            its field. The replay restores the value.
          </>
        ) : (
          <>
            This event is not JSON, so the monitor hides it. Write the event again here. To see the original, use{' '}
            <em>Reveal</em> in the event below. Or ask the publisher to send the event again with a new Id.
          </>
        )}
      </p>
      {isStale && isEdited && (
        <StaleEdit edited={base.value.attempt} newest={attempt} discard={startOver} useForNewest={useForNewest} />
      )}
      <div class="edit-columns">
        <div>
          <Editor
            label="Edit the event"
            text={text.value}
            resets={resets.value}
            original={base.value.editable || undefined}
            faults={check.value?.faults ?? []}
            changed={change}
          />
          <p class="quiet" role="status">
            {isEdited ? (
              <>
                {isKept.value
                  ? 'Edited. This tab keeps your edit until you replay or discard it.'
                  : 'Edited. This browser cannot store your edit. Stay on this page until you have replayed it.'}{' '}
                <Button onClick={startOver}>Discard</Button>
              </>
            ) : (
              editable && 'This is the failed event. Correct it here.'
            )}
          </p>
        </div>
        <div>
          <CheckView
            check={check.value}
            isChecking={checking.isBusy.value}
            isReadable={isReadable}
            refusals={refusals}
          />
          {problems.map((problem) => (
            <ProblemBox problem={problem} key={problem.title} />
          ))}
          <div class="actions">
            <Button
              needs="events:operate"
              disabled={isBusy || !isReadable}
              onClick={() =>
                trial.run(async (signal) => {
                  const result = await post<DryRunResult>(paths.dryRun, { position: origin, ...edited }, { signal })
                  if (!signal.aborted) dryRun.value = result
                })
              }
            >
              {trial.isBusy.value ? 'Asking the services…' : 'Dry run'}
            </Button>
            <Button
              class="main"
              disabled={!isReady || isStale || isBusy || (job !== null && !isOver) || isReplayed}
              onClick={send}
            >
              {sending.isBusy.value ? 'Replaying…' : isEdited ? 'Replay as edited' : 'Replay unchanged'}
            </Button>
            {!may('events:operate') && <span class="quiet">Replaying needs the scope events:operate.</span>}
          </div>
          {job && <JobView job={job} />}
        </div>
      </div>
      {result && (
        <section aria-label="Dry run">
          <h3>Dry run: the effects in each service</h3>
          <DryRunView result={result} />
        </section>
      )}
    </section>
  )
}

interface StaleProps {
  edited: RecordPosition
  newest: RecordPosition
  discard: () => void
  useForNewest: () => void
}

const StaleEdit = ({ edited, newest, discard, useForNewest }: StaleProps) => (
  <div class="problem" role="alert">
    <h2>
      <span aria-hidden="true">✕</span> Since your edit, this event was replayed and failed again
    </h2>
    <p>
      Your edit is for the attempt at <PositionLink position={edited} />. The newest attempt is at{' '}
      <PositionLink position={newest} />, and may have failed for another reason.
    </p>
    <div class="actions">
      <Button onClick={useForNewest}>Use my edit for the newest attempt</Button>
      <Button onClick={discard}>Discard my edit</Button>
    </div>
  </div>
)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
