import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type Place, paths, type Revealed } from '../../../src/api/index.ts'
import { post } from '../../data/api.ts'
import { me } from '../../data/me.ts'
import { useTask } from '../../data/task.ts'
import { ProblemBox } from '../../parts/answers.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { JsonView } from '../../parts/json-view.tsx'

interface Props {
  place: Place
  close: () => void
  took: (revealed: Revealed) => void
}

/** Asks why somebody wants to see what is personal; that is recorded before it is shown. */
export function Reveal({ place, close, took }: Props) {
  const reason = useSignal('')
  const { busy, problem, run } = useTask<'recording'>()
  const submit = (event: Event) => {
    event.preventDefault()
    void run('recording', async () => took(await post<Revealed>(paths.reveal(place), { reason: reason.value.trim() })))
  }
  const isShort = reason.value.trim().length < 3
  return (
    <Dialog title="Reveal personal values" close={close}>
      <form onSubmit={submit}>
        <p>
          It is recorded that <strong>{me.value?.recordedAs}</strong> looked at it, when, and why. It is shown for a
          minute, and kept nowhere in this browser.
        </p>
        <label class="field">
          Why do you need to see it?
          <input
            type="text"
            maxLength={200}
            value={reason.value}
            onInput={({ currentTarget }) => (reason.value = currentTarget.value)}
            autocomplete="off"
            placeholder="such as: customer asks about order of today"
          />
        </label>
        {problem.value && <ProblemBox problem={problem.value} />}
        <div class="actions">
          <button type="submit" class="main" disabled={isShort || busy.value !== null}>
            {busy.value ? 'Recording…' : 'Record and show'}
          </button>
          {isShort && <span class="quiet">Three characters at least.</span>}
        </div>
      </form>
    </Dialog>
  )
}

const shownMs = 60_000

/** Values as they are, until somebody hides them, leaves, looks elsewhere, or a minute is over. */
export function RevealedView({ revealed, hide }: { revealed: Revealed; hide: () => void }) {
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
        <button type="button" onClick={hide}>
          Hide
        </button>
      </header>
      {revealed.document !== null ? (
        <JsonView label="Revealed document" document={revealed.document} />
      ) : (
        <pre>{revealed.text}</pre>
      )}
    </section>
  )
}
