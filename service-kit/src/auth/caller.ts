import type { Request } from 'express'

/** Whom a caller acts for, as envelopes say it. */
export interface Tenant {
  /** TenantID: at most 128 characters, of the token's claim or of the key. */
  id: string
  /** TenantUserID: the token's subject; a key is no user. */
  userId: string | undefined
}

/** Who sent a request, as its token or key proves. */
export interface Caller {
  /** Unique among all callers: `key:<prefix>` or `<issuer>|<subject>`. */
  id: string
  scopes: ReadonlySet<string>
  tenant: Tenant | undefined
}

const callers = new WeakMap<Request, Caller>()

/** Remembers who sent a request. */
export function identify(request: Request, caller: Caller): void {
  callers.set(request, caller)
}

/** Who sent a request; undefined where nobody is asked (Auth__Mode=open). */
export function callerOf(request: Request): Caller | undefined {
  return callers.get(request)
}
