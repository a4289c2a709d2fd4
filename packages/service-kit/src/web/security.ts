import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { Request, RequestHandler, Response } from 'express'
import helmet from 'helmet'
import { isApiKey } from '../auth/api-keys.ts'
import type { Auth } from '../auth/auth.ts'
import type { Caller } from '../auth/caller.ts'
import { IssuerError, TokenError } from '../auth/tokens.ts'
import { HttpProblem, unavailable } from './problems.ts'

/**
 * The content security policy of all answers except pages. If a browser shows JSON as a page, that page can neither load other files nor be shown in
 * a frame.
 */
const nothing = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] }

/** The headers that only pages need. Other answers lack them, because each header takes half a microsecond. */
const ofPages = ['cross-origin-opener-policy', 'referrer-policy', 'x-frame-options']

export const yearSeconds = 365 * 24 * 60 * 60

/**
 * Sets helmet's security headers on every answer, and forbids caching, because answers contain personal data. The headers are computed once. Setting
 * them one by one takes half the time of `setHeaders`.
 *
 * Over https, it adds Strict-Transport-Security. Subdomains are left out, because they may belong to others. Localhost is also left out, because its
 * other ports use http.
 */
export function answerHeaders(): RequestHandler {
  const headers = headersOf(nothing).set('cache-control', 'no-store')
  for (const name of ofPages) headers.delete(name)
  const secure = new Map(headers).set('strict-transport-security', `max-age=${yearSeconds}`)
  return (request, response, next) => {
    const isSecure = request.secure && !isLocalhost(request.headers.host)
    for (const [name, value] of isSecure ? secure : headers) response.setHeader(name, value)
    next()
  }
}

const isLocalhost = (host = '') => /^(.+\.)?localhost(:\d+)?$/i.test(host)

/** Returns helmet's headers by name, except Strict-Transport-Security and the headers for obsolete browsers. */
export function headersOf(
  directives: Record<string, string[]>,
  opener: 'same-origin' | 'same-origin-allow-popups' = 'same-origin',
): Map<string, string> {
  const headers = new Map<string, string>()
  const response = { setHeader: (name: string, value: string) => headers.set(name.toLowerCase(), value) }
  const set = helmet({
    contentSecurityPolicy: { useDefaults: false, directives },
    crossOriginOpenerPolicy: { policy: opener },
    xFrameOptions: { action: 'deny' },
    strictTransportSecurity: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xPoweredBy: false,
    xXssProtection: false,
  })
  set({} as IncomingMessage, response as unknown as ServerResponse, () => {})
  return headers
}

/**
 * Refuses POSTs from pages of other sites. Such a page could make a visitor's browser send a POST without a JSON body. Browsers send the page's
 * origin in `Origin`; programs do not send this header. The scheme is ignored, because a proxy may have ended TLS.
 */
export const refuseForeignPosts: RequestHandler = (request, _response, next) => {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers
  const isOwn = origin === undefined || isOf(origin, host)
  if (request.method !== 'POST' || (isOwn && site !== 'cross-site')) return next()
  throw new HttpProblem(403, 'foreign-origin', 'The request is from a page of another site', {
    detail: `A page of ${origin ?? 'another site'} sent this request, but only pages of ${host} may. Programs must leave out the Origin header.`,
  })
}

/** Returns true if an origin has this host. The origin and the host may leave out the scheme's default port. */
function isOf(origin: string, host: string): boolean {
  const page = URL.parse(origin)
  return page !== null && URL.parse(`${page.protocol}//${host}`)?.host === page.host && page.host !== ''
}

/**
 * Refuses requests for unknown host names. Without authentication, this prevents DNS rebinding (docs/adr/0031). Known names are `localhost`, names
 * that end with `.localhost`, the names in `hosts`, and all IP addresses.
 * @param hosts further names, separated by commas (`Web__Hosts`)
 */
export function requireKnownHost(hosts: string): RequestHandler {
  const known = new Set(hosts.split(',').map(normalized))
  const isKnown = (name: string) =>
    name === 'localhost' || name.endsWith('.localhost') || isIP(name.replace(/^\[|\]$/g, '')) > 0 || known.has(name)
  return (request, _response, next) => {
    const names = namesOf(request)
    if (names.every((name) => name !== '' && isKnown(name))) return next()
    throw new HttpProblem(421, 'unknown-host', 'This service does not answer under that name', {
      detail:
        `The request is for ${names.find((name) => !isKnown(name)) || 'an invalid host name'}. Use localhost or the IP address, or add the name to ` +
        'Web__Hosts of the service. With authentication (Auth__Mode=closed), every name is accepted.',
    })
  }
}

/**
 * Returns the host names of a request: the names in all Host headers (RFC 9112 allows only one), and the name in an absolute URL. An invalid host
 * is returned as an empty text. `X-Forwarded-Host` is ignored, because pages can set it.
 */
function namesOf({ rawHeaders, url }: Request): string[] {
  const target = url.startsWith('/') || url === '*' ? [] : [URL.parse(url)?.host ?? '']
  // `headers` has only the first Host header, and `headersDistinct` would collect all headers.
  const sent = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'host' && index % 2 === 1)
  return [...sent, ...target].map((host) => {
    const [, name = ''] = /^(\[[\da-f:.]+\]|[^\s:@/?#[\]]+)(?::\d*)?$/i.exec(host) ?? []
    return normalized(name)
  })
}

const normalized = (name: string): string => name.trim().toLowerCase().replace(/\.$/, '')

/**
 * Creates the middleware that requires a valid token or key (RFC 6750).
 * @throws {HttpProblem} (the middleware) 401, or 503 if the issuer does not answer
 */
export function authenticate({ issuer, keys }: Auth): RequestHandler {
  async function callerFor(credential: string): Promise<Caller> {
    if (isApiKey(credential) || !issuer) {
      const caller = keys?.find(credential)
      if (caller) return caller
      throw unauthenticated('The API key is unknown or was revoked. Ask the operator for a new one.', 'invalid_token')
    }
    return issuer.verify(credential).catch((error: unknown) => {
      if (error instanceof TokenError)
        throw unauthenticated(`The token is not valid: ${error.message}.`, 'invalid_token')
      if (error instanceof IssuerError)
        throw unavailable('The issuer of the tokens does not answer. Try again.', {}, error)
      throw error
    })
  }

  return async (request, response, next) => {
    const [, credential] = /^Bearer +([\w.~+/=-]+) *$/i.exec(request.headers.authorization ?? '') ?? []
    if (!credential)
      throw unauthenticated(
        `Send Authorization: Bearer with a token or an API key. ${request.baseUrl}/docs explains how to get one.`,
      )
    response.locals.caller = await callerFor(credential)
    next()
  }
}

export const callerOf = ({ locals }: Response): Caller | undefined => locals.caller

/** Creates the middleware that requires a scope, if there is authentication. @throws {HttpProblem} 403 */
export function requireScope(scope: string): RequestHandler {
  return (_request, response, next) => {
    const caller = callerOf(response)
    if (!caller || caller.scopes.has(scope)) return next()
    const challenge = `Bearer error="insufficient_scope", scope="${scope}"`
    throw new HttpProblem(403, 'insufficient-scope', 'The token or key does not allow this operation', {
      detail: `The operation needs the scope ${scope}. The scopes of the token or key are: ${[...caller.scopes].join(' ') || 'none'}.`,
      headers: { 'www-authenticate': challenge },
    })
  }
}

function unauthenticated(detail: string, error?: string): HttpProblem {
  const headers = { 'www-authenticate': error ? `Bearer error="${error}"` : 'Bearer' }
  return new HttpProblem(401, 'unauthenticated', 'A valid token or key is required', { detail, headers })
}
