import { useSignal } from '@preact/signals'
import type { Problem } from '../../src/api/index.ts'
import { isSigningIn, refusal, signIn, tryCredential } from '../data/api.ts'
import { useTask } from '../data/load.ts'
import { credentialIn } from '../lib/format.ts'
import { Dialog } from './controls.tsx'
import { State } from './marks.tsx'

const command = './orderflow api-key create me --scopes "events:read events:operate"'

export function SignIn() {
  const text = useSignal('')
  const wrong = useSignal(refusal.value?.ended ?? null)
  const { isBusy, problem, run } = useTask()
  const submit = (event: Event) => {
    event.preventDefault()
    const credential = credentialIn(text.value)
    wrong.value =
      credential === null ? 'This is not a key or token. Remove spaces and quotes. A key begins with ofk_.' : null
    if (credential === null) return
    void run(async () => {
      await tryCredential(credential)
      signIn(credential)
    })
  }
  const error = wrong.value ?? (problem.value && wordsFor(problem.value))
  return (
    <Dialog title="Sign in" close={() => (isSigningIn.value = false)}>
      <form onSubmit={submit}>
        <p>Sign in to see the page that you opened.</p>
        <label class="field">
          API key or token
          <input
            type="password"
            autofocus
            required
            autocomplete="off"
            spellcheck={false}
            aria-describedby="credential-from"
            value={text.value}
            onInput={({ currentTarget }) => (text.value = currentTarget.value)}
          />
        </label>
        <p role="alert">{error && <State kind="bad">{error}</State>}</p>
        <div class="actions">
          <button type="submit" class="main" disabled={isBusy.value}>
            {isBusy.value ? 'Checking…' : 'Sign in'}
          </button>
          <span class="quiet">This tab stores the key or token until you sign out or close the tab.</span>
        </div>
        <div id="credential-from">
          <p>An operator can create a key with this command, which shows the key only once:</p>
          <pre>{command}</pre>
          <p class="quiet">
            You need the scope <code>events:read</code> to view events, <code>events:operate</code> to edit and replay
            events, and <code>events:reveal</code> to view personal values. You can also use a token of your identity
            provider with these scopes (docs/access.md).
          </p>
        </div>
      </form>
    </Dialog>
  )
}

function wordsFor({ title, detail, status }: Problem): string {
  const what = detail ?? title
  return status === 403 ? `${what} Sign in with a key that has this scope.` : what
}
