import type { Tenant } from '@orderflow/envelope'

const actions = ['read', 'write', 'operate', 'reveal'] as const

/** A permission of a token or key, such as `bookings:write`: the data and the action. */
export type Scope = `${string}:${(typeof actions)[number]}`

const form = new RegExp(`^[a-z][a-z-]*:(${actions.join('|')})$`)

export const isScope = (text: string): text is Scope => form.test(text)

export interface Caller {
  /** A unique id: `key:<prefix>` or `<issuer>|<subject>`. */
  id: string
  /** The name of the API key; left out for a token. */
  key?: string
  scopes: ReadonlySet<string>
  /** The tenant of the token's claim, with the token's subject as the user; or the tenant of the API key, without a user. */
  tenant: Tenant
}
