import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import getAbsoluteFSPath from 'swagger-ui-dist/absolute-path.js'
import swaggerUi from 'swagger-ui-express'
import { headersOf } from './browser-security.ts'

/** A document that is the same for everybody, and shown to anybody, closed or not, as the page of the operations is. */
export interface StaticFile {
  /** Where it is: `/schemas/common.json`. */
  path: string
  /** Its media type, with the charset of a text. */
  type: string
  /** The text, or the text for a path prefix at a proxy (empty for none), where it has paths of the service. */
  content: string | ((prefix: string) => string)
  /** Of a page: where it may load from, besides its own files (directives of its content security policy). */
  sources?: Record<string, string[]>
}

/** Answers GET and HEAD with these. Programs of other sites may read them: they hold nothing of anybody. */
export function staticFiles(files: readonly StaticFile[]): Router {
  const router = Router()
  for (const { path, type, content, sources = {} } of files) {
    const directives = { defaultSrc: ["'none'"], baseUri: ["'none'"], frameAncestors: ["'none'"], ...sources }
    const headers = headersOf({ directives })
    headers.set('cache-control', 'no-cache').set('access-control-allow-origin', '*').set('content-type', type)
    // Not the default, which keeps what it says from pages elsewhere.
    headers.set('cross-origin-resource-policy', 'cross-origin')
    router.get(path, ({ baseUrl, path: asked }, response) => {
      // Links of a page are relative to its path, which has no slash at its end.
      if (asked.endsWith('/')) return response.redirect(`../${path.slice(path.lastIndexOf('/') + 1)}`)
      response.setHeaders(headers).end(typeof content === 'string' ? content : content(baseUrl))
    })
  }
  return router
}

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

// The package's main module would run the whole page in this process.

/** Swagger UI would have a page that is not on this machine checked, and shown a picture of the result, by validator.swagger.io. */
const swaggerOptions = { validatorUrl: null }

/** How people sign in on the page: as swagger-ui-express is told it, and where else the page may send requests for it. */
export interface PageSignIn {
  oauth: object
  origins: () => Promise<string[]>
}

/** The interactive page, which loads nothing but its own files and the document, and runs no script that stands in a page. */
export function docs(title: string, signIn: PageSignIn | undefined): Router {
  const options = { ...swaggerOptions, ...(signIn && { oauth: signIn.oauth }) }
  // By its address, since it changes: while the issuer cannot be asked, nobody can sign in there.
  const page = swaggerUi.generateHTML(undefined, {
    customSiteTitle: title,
    swaggerUrl: '../openapi.json',
    swaggerOptions: options,
  })
  const directives = {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", ...stylesIn(page)],
    // Icons of its style sheet are data.
    imgSrc: ["'self'", 'data:'],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  }
  const set: RequestHandler = async (_request, response, next) => {
    const connectSrc = ["'self'", ...((await signIn?.origins()) ?? [])]
    // It opens the issuer's page in a window of its own, which comes back to oauth2-redirect.html and calls the page that opened it.
    const headers = headersOf({ directives: { ...directives, connectSrc }, opener: 'same-origin-allow-popups' })
    response.setHeaders(headers.set('cache-control', 'no-cache'))
    next()
  }
  const keepOpener: RequestHandler = (_request, response, next) => {
    response.set('cross-origin-opener-policy', 'unsafe-none')
    next()
  }
  return (
    Router()
      .use(set)
      // Of the page itself without its slash, from which no file of it would be found.
      .get('/', ({ originalUrl }, response, next) =>
        originalUrl.replace(/\?.*/s, '').endsWith('/') ? next() : response.redirect('docs/'),
      )
      .get('/oauth2-redirect.html', keepOpener)
      .use(swaggerUi.serve)
      .get('/', (_request, response) => response.send(page))
  )
}

/**
 * The hashes of styles that are in no file, which allow these alone: swagger-ui-express has a few in the page itself, and one in an
 * attribute; the logo of Swagger UI brings its own.
 */
function stylesIn(page: string): string[] {
  const preset = readFileSync(join(getAbsoluteFSPath(), 'swagger-ui-standalone-preset.js'), 'utf8')
  const found = [
    ...page.matchAll(/<style>([\s\S]*?)<\/style>/g),
    ...page.matchAll(/\sstyle="([^"]*)"/g),
    ...preset.matchAll(/createElement\("style",null,"([^"\\]*)"\)/g),
  ]
  const hashes = found.map(([, style = '']) => createHash('sha256').update(style).digest('base64'))
  return [...hashes.map((hash) => `'sha256-${hash}'`), "'unsafe-hashes'"]
}
