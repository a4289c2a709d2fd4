import type { RequestHandler } from 'express'
import { HttpProblem } from './problems/problem.ts'

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
