import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import type { Request, RequestHandler } from 'express'
import helmet from 'helmet'
import { HttpProblem } from './problems.ts'

/** Nothing of an answer may be loaded from anywhere or shown in a frame: if a browser ever takes JSON for a page, that is empty. */
const nothing = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] }

/**
 * What a page is told besides: of its windows and links, which JSON has none of, and by X-Frame-Options what the policy says already. Each
 * field takes half a microsecond of every answer.
 */
const ofPages = ['cross-origin-opener-policy', 'referrer-policy', 'x-frame-options']

const yearSeconds = 365 * 24 * 60 * 60

/**
 * Header fields that tell browsers what not to do, by helmet, on every answer; answers hold personal data, so nobody keeps them. Computed
 * once: they are the same for all requests. (`setHeaders` takes twice as long as setting each.)
 *
 * Over https browsers are told to come by https only from now on; other hosts of the domain are not ours to speak for. Not on localhost:
 * a browser that trusts the local certificate would take it for every port there, and find nothing on those that speak http.
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

interface Told {
  /** Of the content security policy: sources by directive. */
  directives: Record<string, string[]>
  /** Which windows may call a page's window. */
  opener?: 'same-origin' | 'same-origin-allow-popups'
}

/**
 * What helmet sets, by name, but for what is told over https only; and for what it says to browsers and plug-ins that are gone (Internet
 * Explorer 8, Flash), or as a hint of no use here.
 */
export function headersOf({ directives, opener = 'same-origin' }: Told): Map<string, string> {
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
 * Refuses POSTs from pages of other sites. Such a page can make a visitor's browser send a POST without asking first (no preflight) when it
 * has no JSON body, such as a cancellation, and so reach a service that only the visitor's network can. Browsers name the page's origin in
 * `Origin`; programs send none. The scheme is not compared, since a proxy in front may have ended TLS.
 */
export const refuseForeignPosts: RequestHandler = (request, _response, next) => {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers
  const isOwn = origin === undefined || isOf(origin, host)
  if (request.method !== 'POST' || (isOwn && site !== 'cross-site')) return next()
  throw new HttpProblem(403, 'foreign-origin', 'Refused from another site', {
    detail: `A browser sent this from a page of ${origin ?? 'another site'}, and only pages of ${host} may. Programs send no Origin header.`,
  })
}

/** Whether an origin has this host. Both leave out the port or name it, when it is the usual one of the origin's scheme. */
function isOf(origin: string, host: string): boolean {
  const page = URL.parse(origin)
  return page !== null && URL.parse(`${page.protocol}//${host}`)?.host === page.host && page.host !== ''
}

/**
 * Refuses requests whose Host is not known, where callers do not prove who they are. A page of evil.example can have that name resolve to
 * 127.0.0.1 once it is loaded (DNS rebinding). The browser then takes this service for a part of that site, so the page may read and write
 * here, and `Origin` and `Host` agree. Known are the names of this machine and those of the setting. Literal addresses are known too: no
 * page can be loaded from an address and then have it mean another one.
 * @param hosts the further names, by commas (`Web__Hosts`)
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
 * Returns the names that a request is for: of each Host header (RFC 9112 allows one), and of a target in absolute form. An empty text stands
 * for what is no host. `X-Forwarded-Host` does not count: a page can set it. A request of HTTP/1.0 may have
 * no name at all, and no browser sends one.
 */
function namesOf({ headersDistinct, url }: Request): string[] {
  const target = url.startsWith('/') || url === '*' ? [] : [URL.parse(url)?.host ?? '']
  return [...(headersDistinct.host ?? []), ...target].map((host) => {
    const [, name = ''] = /^(\[[\da-f:.]+\]|[^\s:@/?#[\]]+)(?::\d*)?$/i.exec(host) ?? []
    return normalized(name)
  })
}

/** Host names are the same in capitals, and with the dot that ends a complete name. */
function normalized(name: string): string {
  return name.trim().toLowerCase().replace(/\.$/, '')
}
