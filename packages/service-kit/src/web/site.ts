import type { RequestHandler } from 'express'
import { headersOf } from './headers.ts'

/** A file of a page, as it is answered. */
export interface SiteFile {
  bytes: Buffer
  /** Compressed with Brotli, for browsers that say they take it; undefined where that is not worth it. */
  br?: Buffer | undefined
  /** Content-Type. */
  type: string
  etag: string
  /** Whether its name follows from its content, so that nobody needs to ask for it twice. */
  immutable: boolean
}

/** A page of a service's own, for people: shown to anybody, closed or not, as the page of the operations is. It holds nothing of anybody. */
export interface Site {
  /** Its content security policy. */
  policy: string
  /**
   * What to answer to a path that is none of the API; undefined for nothing.
   * @param prefix below which a proxy serves it, as in the links of a page; empty where none is known
   */
  read(path: string, prefix: string): { status: 200 | 404; file: SiteFile } | undefined
}

/** Paths that are never a page's: of operations and of their documentation. */
const others = /^\/(v\d+|docs|openapi\.json|healthz|readyz)(\/|$)/

const yearSeconds = 365 * 24 * 60 * 60

/** Answers GET and HEAD with the files of a page: compressed where the browser takes it, and with 304 where it has them. */
export function site({ policy, read }: Site): RequestHandler {
  const headers = headersOf({ directives: { defaultSrc: ["'none'"] } })
  headers.set('content-security-policy', policy).set('vary', 'accept-encoding')
  // No route of Express, which would answer OPTIONS of every path of the API with the methods of a page.
  return (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const found = isRead && !others.test(request.path) ? read(request.path, request.baseUrl) : undefined
    if (!found) return next()
    // Programs are told of no path, whether there is one or not; people get a page that says so.
    if (found.status === 404 && request.accepts(['json', 'html']) !== 'html') return next()
    const { bytes, br, type, etag, immutable } = found.file
    response.setHeaders(headers).setHeader('content-type', type).setHeader('etag', etag)
    response.setHeader('cache-control', immutable ? `public, max-age=${yearSeconds}, immutable` : 'no-cache')
    if (
      request
        .get('if-none-match')
        ?.split(/\s*,\s*/)
        .includes(etag)
    )
      return void response.status(304).end()
    const compressed = request.acceptsEncodings('br', 'identity') === 'br' ? br : undefined
    if (compressed) response.setHeader('content-encoding', 'br')
    response.status(found.status).end(compressed ?? bytes)
  }
}
