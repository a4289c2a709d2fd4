import { credential, isSigningIn, refusal, signOut } from '../data/access.ts'
import { me } from '../data/me.ts'

/** Who is signed in, where the monitor asks. */
export function Account() {
  if (refusal.value) {
    return (
      <button type="button" onClick={() => (isSigningIn.value = true)}>
        Sign in
      </button>
    )
  }
  if (credential() === null) return null
  return (
    <button type="button" title={`Signed in, with ${me.value?.scopes.join(' ') ?? 'no scope'}`} onClick={signOut}>
      Sign out <span class="quiet">{me.value?.recordedAs}</span>
    </button>
  )
}
