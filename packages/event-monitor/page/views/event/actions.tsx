import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import {
  type DryRunResult,
  type EventDetail,
  paths,
  type RecordPosition,
  type Revealed,
} from '../../../src/api/index.ts'
import { me, post } from '../../data/api.ts'
import { useTask } from '../../data/load.ts'
import { counted } from '../../lib/format.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { Button, Dialog } from '../../parts/controls.tsx'
import { DryRunView } from '../../parts/dry-run.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { SaveFixture } from './fixture.tsx'

export function Actions({ detail }: { detail: EventDetail }) {
  const { position } = detail.row
  const { isBusy, problem, run } = useTask()
  const dryRun = useSignal<DryRunResult | null>(null)
  const isAsking = useSignal(false)
  const revealed = useSignal<Revealed | null>(null)
  return (
    <>
      <div class="actions">
        <Button
          needs="events:operate"
          disabled={isBusy.value}
          title="Shows the effects of this event without publishing it"
          onClick={() =>
            run(async (signal) => {
              dryRun.value = await post<DryRunResult>(paths.dryRun, { position }, { signal })
            })
          }
        >
          {isBusy.value ? 'Asking the services…' : 'Dry run'}
        </Button>
        <SaveFixture position={position} />
        {(detail.masked.length > 0 || detail.document === null) && (
          <Button
            needs="events:reveal"
            title="Your name and reason are recorded"
            onClick={() => (isAsking.value = true)}
          >
            Reveal {detail.document === null ? 'original' : counted(detail.masked.length, 'masked value')}…
          </Button>
        )}
      </div>
      {problem.value && <ProblemBox problem={problem.value} />}
      {dryRun.value && (
        <section aria-label="Dry run">
          <h2>Dry run: the effects in each service</h2>
          <DryRunView result={dryRun.value} />
        </section>
      )}
      {isAsking.value && (
        <Reveal
          position={position}
          close={() => (isAsking.value = false)}
          onRevealed={(value) => {
            isAsking.value = false
            revealed.value = value
          }}
        />
      )}
      {revealed.value && <RevealedView revealed={revealed.value} hide={() => (revealed.value = null)} />}
    </>
  )
}

interface Props {
  position: RecordPosition
  close: () => void
  onRevealed: (revealed: Revealed) => void
}

function Reveal({ position, close, onRevealed }: Props) {
  const reason = useSignal('')
  const { isBusy, problem, run } = useTask()
  const submit = (event: Event) => {
    event.preventDefault()
    void run(async (signal) => {
      const revealed = await post<Revealed>(paths.reveal(position), { reason: reason.value.trim() }, { signal })
      // The user may have closed the dialog, or opened another event.
      if (!signal.aborted) onRevealed(revealed)
    })
  }
  const isShort = reason.value.trim().length < 3
  return (
    <Dialog title="Reveal personal values" close={close}>
      <form onSubmit={submit}>
        <p>
          The audit log records that <strong>{me.value?.recordedAs}</strong> viewed these values, with the time and the
          reason. The page shows the values for one minute. This browser does not store them.
        </p>
        <label class="field">
          Why do you need these values?
          <input
            type="text"
            maxLength={200}
            value={reason.value}
            onInput={({ currentTarget }) => (reason.value = currentTarget.value)}
            autocomplete="off"
            placeholder="for example: to answer a question about this event"
          />
        </label>
        {problem.value && <ProblemBox problem={problem.value} />}
        <div class="actions">
          <button type="submit" class="main" disabled={isShort || isBusy.value}>
            {isBusy.value ? 'Recording…' : 'Record and show'}
          </button>
          {isShort && <span class="quiet">Enter at least three characters.</span>}
        </div>
      </form>
    </Dialog>
  )
}

const shownMs = 60_000

/** Shows personal values for one minute, or until the user hides the values or leaves the tab. */
function RevealedView({ revealed, hide }: { revealed: Revealed; hide: () => void }) {
  useEffect(() => {
    const timer = setTimeout(hide, shownMs)
    const away = () => document.hidden && hide()
    document.addEventListener('visibilitychange', away)
    return () => {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', away)
    }
  }, [])
  return (
    <section class="revealed card" aria-label="Revealed">
      <header>
        <h2>Revealed: personal values</h2>
        <Button onClick={hide}>Hide</Button>
      </header>
      {revealed.document !== null ? (
        <JsonView label="Revealed document" document={revealed.document} />
      ) : (
        <pre>{revealed.text}</pre>
      )}
    </section>
  )
}
