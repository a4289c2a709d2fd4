import type { Tenant } from '@orderflow/envelope-schema'
import type { Request } from 'express'

/** Who sent a request, as its token or key proves. */
export interface Caller {
  /** Unique among all callers: `key:<prefix>` or `<issuer>|<subject>`. */
  id: string
  /** The name of the API key; left out for a token. */
  key?: string
  scopes: ReadonlySet<string>
  /** Of the token's claim and subject, or of the key, which is no user. */
  tenant: Tenant
}

const callers = new WeakMap<Request, Caller>()

/** Remembers who sent a request. */
export function identify(request: Request, caller: Caller): void {
  callers.set(request, caller)
}

/** Who sent a request; undefined where nobody is asked (`Auth__Mode` other than closed). */
export function callerOf(request: Request): Caller | undefined {
  return callers.get(request)
}
