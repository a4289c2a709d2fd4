import type { RequestHandler, Response } from 'express'
import { isApiKey } from '../auth/api-keys.ts'
import type { Auth } from '../auth/auth.ts'
import type { Caller } from '../auth/caller.ts'
import { IssuerError, TokenError } from '../auth/tokens.ts'
import { HttpProblem, unavailable } from './problems.ts'

/**
 * Creates the middleware that requires a valid token or key (RFC 6750); otherwise it answers 401 with `WWW-Authenticate`.
 * @throws {HttpProblem} (the middleware) 401, or 503 when the issuer does not answer
 */
export function authenticate({ issuer, keys }: Auth): RequestHandler {
  async function callerFor(credential: string): Promise<Caller> {
    if (isApiKey(credential) || !issuer) {
      const caller = keys?.find(credential)
      if (caller) return caller
      throw unauthenticated('The key is not known here. It may have been revoked.', 'invalid_token')
    }
    return issuer.verify(credential).catch((error: unknown) => {
      if (error instanceof TokenError)
        throw unauthenticated(`The token does not count: ${error.message}.`, 'invalid_token')
      if (error instanceof IssuerError)
        throw unavailable('The issuer of the tokens does not answer. Try again.', {}, error)
      throw error
    })
  }

  return async (request, response, next) => {
    const [, credential] = /^Bearer +([\w.~+/=-]+) *$/i.exec(request.headers.authorization ?? '') ?? []
    if (!credential)
      throw unauthenticated(
        `Send Authorization: Bearer with a token or a key. How to get one stands at ${request.baseUrl}/docs.`,
      )
    response.locals.caller = await callerFor(credential)
    next()
  }
}

/** Returns the caller of the request that a response answers; undefined without authentication (`Auth__Mode` other than closed). */
export function callerOf({ locals }: Response): Caller | undefined {
  return locals.caller
}

/** Creates the middleware that requires a scope of the caller. Without authentication every request passes. @throws {HttpProblem} 403 */
export function requireScope(scope: string): RequestHandler {
  return (_request, response, next) => {
    const caller = callerOf(response)
    if (!caller || caller.scopes.has(scope)) return next()
    const challenge = `Bearer error="insufficient_scope", scope="${scope}"`
    throw new HttpProblem(403, 'insufficient-scope', 'The token or key may not do this', {
      detail: `It needs the scope ${scope}, and has ${[...caller.scopes].join(' ') || 'none'}.`,
      headers: { 'www-authenticate': challenge },
    })
  }
}

function unauthenticated(detail: string, error?: string): HttpProblem {
  const headers = { 'www-authenticate': error ? `Bearer error="${error}"` : 'Bearer' }
  return new HttpProblem(401, 'unauthenticated', 'Nobody is known by this request', { detail, headers })
}
