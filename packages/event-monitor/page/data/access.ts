import { signal } from '@preact/signals'
import type { Problem } from '../../src/api/index.ts'

/** That the monitor let nobody in, on a stack that is closed, and why what somebody had signed in with does not count any more. */
export const refusal = signal<{ ended: string | null } | null>(null)
/** Whether somebody is asked who they are. */
export const isSigningIn = signal(false)

const name = 'credential'

/** The API key or token that somebody signed in with. It is in this tab alone, and gone with it. */
export function credential(): string | null {
  try {
    return sessionStorage.getItem(name)
  } catch {
    return null
  }
}

/** The header that says who asks: none where nobody signed in. */
export function authorization(sent = credential()): { authorization?: string } {
  return sent === null ? {} : { authorization: `Bearer ${sent}` }
}

/** Who asked is not let in: what they had signed in with is forgotten, and they are asked, once. */
export function refuse({ title, detail = title }: Problem): void {
  if (refusal.value) return
  refusal.value = { ended: credential() && detail }
  isSigningIn.value = true
  try {
    sessionStorage.removeItem(name)
  } catch {
    // Then there was nothing.
  }
}

/** Asks for everything anew, as whoever has this. @throws {DOMException} where the browser keeps nothing for the page */
export function signIn(accepted: string): void {
  sessionStorage.setItem(name, accepted)
  location.reload()
}

/** Nothing that was shown or written stays. */
export function signOut(): void {
  sessionStorage.clear()
  location.reload()
}
