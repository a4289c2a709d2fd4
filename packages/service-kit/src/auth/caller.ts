import type { Tenant } from '@orderflow/envelope'

const actions = ['read', 'write', 'operate', 'reveal'] as const

/** A permission of a token or key, such as `bookings:write`: the data, and what the caller may do with it. */
export type Scope = `${string}:${(typeof actions)[number]}`

const form = new RegExp(`^[a-z][a-z-]*:(${actions.join('|')})$`)

export const isScope = (text: string): text is Scope => form.test(text)

/** Who sent a request, as its token or key proves. */
export interface Caller {
  /** Unique among all callers: `key:<prefix>` or `<issuer>|<subject>`. */
  id: string
  /** The name of the API key; left out for a token. */
  key?: string
  scopes: ReadonlySet<string>
  /** From the token's claim and subject, or from the key, which has no user. */
  tenant: Tenant
}
