import type { Tenant } from '@orderflow/envelope'

const actions = ['read', 'write', 'operate', 'reveal'] as const

/** A permission of a token or key: data and action, as in `bookings:write`. */
export type Scope = `${string}:${(typeof actions)[number]}`

const form = new RegExp(`^[a-z][a-z-]*:(${actions.join('|')})$`)

export const isScope = (text: string): text is Scope => form.test(text)

export interface Caller {
  /** A unique id: `key:<prefix>` or `<issuer>|<subject>`. */
  id: string
  /** The name of the API key; left out for a token. */
  key?: string
  scopes: ReadonlySet<string>
  /** For a token: the tenant in its tenant claim, and the subject as the user. For an API key: the key's tenant, and no user. */
  tenant: Tenant
}
