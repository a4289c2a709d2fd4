import type { Tenant } from '@orderflow/envelope'

const actions = ['read', 'write', 'operate', 'reveal'] as const

/** A permission of a token or key, such as `bookings:write`: the data and the action. */
export type Scope = `${string}:${(typeof actions)[number]}`

const form = new RegExp(`^[a-z][a-z-]*:(${actions.join('|')})$`)

export const isScope = (text: string): text is Scope => form.test(text)

export interface Caller {
  /** A unique id: `key:<prefix>` or `<issuer>|<subject>`. */
  id: string
  /** Left out for a token. */
  key?: string
  scopes: ReadonlySet<string>
  /** The tenant from the token's claim and subject, or from the key. A key has no user. */
  tenant: Tenant
}
