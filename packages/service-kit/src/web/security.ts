import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { Request, RequestHandler, Response } from 'express'
import helmet from 'helmet'
import { isApiKey } from '../auth/api-keys.ts'
import type { Auth } from '../auth/auth.ts'
import type { Caller } from '../auth/caller.ts'
import { IssuerError, TokenError } from '../auth/tokens.ts'
import { HttpProblem, unavailable } from './problems.ts'

/** The policy of answers: load nothing, show in no frame. If a browser ever shows JSON as a page, the page is empty. */
const nothing = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] }

/**
 * Headers that only pages need: about windows and links, and X-Frame-Options, which repeats the policy. Each field takes half a microsecond of
 * every answer.
 */
const ofPages = ['cross-origin-opener-policy', 'referrer-policy', 'x-frame-options']

const yearSeconds = 365 * 24 * 60 * 60

/**
 * Sets helmet's security headers on every answer, and forbids caching, because answers contain personal data. The headers are the same for all
 * requests, so they are computed once. (`setHeaders` takes twice as long as setting each.)
 *
 * Over https it adds Strict-Transport-Security, without the subdomains, which may belong to others. It is left out on localhost: a browser that
 * trusts the local certificate would apply it to every port there, also to those that serve http.
 */
export function answerHeaders(): RequestHandler {
  const headers = headersOf({ directives: nothing }).set('cache-control', 'no-store')
  for (const name of ofPages) headers.delete(name)
  const secure = new Map(headers).set('strict-transport-security', `max-age=${yearSeconds}`)
  return (request, response, next) => {
    const isSecure = request.secure && !isLocalhost(request.headers.host)
    for (const [name, value] of isSecure ? secure : headers) response.setHeader(name, value)
    next()
  }
}

const isLocalhost = (host = '') => /^(.+\.)?localhost(:\d+)?$/i.test(host)

interface PageHeaders {
  /** The content security policy: sources by directive. */
  directives: Record<string, string[]>
  /** The windows that may access a page's window. */
  opener?: 'same-origin' | 'same-origin-allow-popups'
}

/**
 * Returns helmet's headers by name, without Strict-Transport-Security, headers for obsolete browsers and plug-ins (Internet Explorer 8, Flash),
 * and hints of no use here.
 */
export function headersOf({ directives, opener = 'same-origin' }: PageHeaders): Map<string, string> {
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
 * Refuses POSTs from pages of other sites. Such a page can make a visitor's browser send a POST without a preflight if it has no JSON body,
 * such as a cancellation, and so reach a service in the visitor's network. Browsers send the page's origin in `Origin`; programs send none.
 * The scheme is not compared, because a proxy in front may have ended TLS.
 */
export const refuseForeignPosts: RequestHandler = (request, _response, next) => {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers
  const isOwn = origin === undefined || isOf(origin, host)
  if (request.method !== 'POST' || (isOwn && site !== 'cross-site')) return next()
  throw new HttpProblem(403, 'foreign-origin', 'Refused from another site', {
    detail: `A browser sent this from a page of ${origin ?? 'another site'}, and only pages of ${host} may. Programs send no Origin header.`,
  })
}

/** Returns whether an origin has this host. Either may leave out the default port of the origin's scheme. */
function isOf(origin: string, host: string): boolean {
  const page = URL.parse(origin)
  return page !== null && URL.parse(`${page.protocol}//${host}`)?.host === page.host && page.host !== ''
}

/**
 * Refuses requests for unknown host names. It is used without authentication, against DNS rebinding: a page of evil.example changes that name
 * to 127.0.0.1 after it was loaded. The browser then treats this service as a part of that site, so the page may read and write here, and
 * `Origin` and `Host` agree. Known are the names of this machine and those of the setting, and all literal addresses, because an address
 * cannot be made to mean another machine.
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
        `The request is for ${names.find((name) => !isKnown(name)) || 'no valid host name'}. Use localhost or the address, or add the name to ` +
        'Web__Hosts of the service; where callers prove who they are (Auth__Mode=closed), every name is accepted.',
    })
  }
}

/**
 * Returns the host names of a request: of each Host header (RFC 9112 allows one), and of a target in absolute form. An invalid host is an empty
 * text. `X-Forwarded-Host` is ignored, because a page can set it. A request of HTTP/1.0 may have no name; browsers do not send such requests.
 */
function namesOf({ headersDistinct, url }: Request): string[] {
  const target = url.startsWith('/') || url === '*' ? [] : [URL.parse(url)?.host ?? '']
  return [...(headersDistinct.host ?? []), ...target].map((host) => {
    const [, name = ''] = /^(\[[\da-f:.]+\]|[^\s:@/?#[\]]+)(?::\d*)?$/i.exec(host) ?? []
    return normalized(name)
  })
}

/** Returns a host name in lower case, without the dot that ends a complete name. */
function normalized(name: string): string {
  return name.trim().toLowerCase().replace(/\.$/, '')
}

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
