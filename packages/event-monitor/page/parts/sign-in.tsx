import { useSignal } from '@preact/signals'
import type { Problem } from '../../src/api/index.ts'
import { isSigningIn, refusal, signIn, tryCredential } from '../data/api.ts'
import { asProblem } from '../data/load.ts'
import { credentialIn } from '../lib/format.ts'
import { Dialog } from './dialog.tsx'
import { State } from './marks.tsx'

const command = './orderflow api-key create me --scopes "events:read events:operate"'

/** Asks the user to sign in, and shows the view afterwards. */
export function SignIn() {
  const text = useSignal('')
  const wrong = useSignal(refusal.value?.ended ?? null)
  const isTrying = useSignal(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    const credential = credentialIn(text.value)
    if (credential === null) {
      wrong.value = 'This is not a key or token: they have no spaces or quotes. A key begins with ofk_.'
      return
    }
    isTrying.value = true
    try {
      await tryCredential(credential)
      signIn(credential)
    } catch (error) {
      wrong.value = wordsFor(asProblem(error))
      isTrying.value = false
    }
  }
  return (
    <Dialog title="Sign in" close={() => (isSigningIn.value = false)}>
      <form onSubmit={submit}>
        <p>This monitor requires a sign-in. After that it shows the page that you opened.</p>
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
        <p role="alert">{wrong.value && <State kind="bad">{wrong.value}</State>}</p>
        <div class="actions">
          <button type="submit" class="main" disabled={isTrying.value}>
            {isTrying.value ? 'Asking…' : 'Sign in'}
          </button>
          <span class="quiet">It is kept in this tab only, until you sign out or close the tab.</span>
        </div>
        <div id="credential-from">
          <p>An operator creates a key, which is shown once:</p>
          <pre>{command}</pre>
          <p class="quiet">
            <code>events:read</code> shows events, <code>events:operate</code> corrects and replays them,{' '}
            <code>events:reveal</code> shows personal values. A token of your identity provider with these scopes works,
            too (docs/access.md).
          </p>
        </div>
      </form>
    </Dialog>
  )
}

function wordsFor({ title, detail, status }: Problem): string {
  const what = detail ?? title
  return status === 403 ? `${what} Sign in with a key that has it.` : what
}
