import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import getAbsoluteFSPath from 'swagger-ui-dist/absolute-path.js'
import swaggerUi from 'swagger-ui-express'
import { headersOf } from './security.ts'

/** A public document that is the same for every caller. It is served without authentication, as the page of the operations is. */
export interface StaticFile {
  /** Its path, such as `/schemas/common.json`. */
  path: string
  /** Its media type; with the charset for a text. */
  type: string
  /** The text. A text that contains paths of the service is a function of the path prefix at a proxy, empty for none. */
  content: string | ((prefix: string) => string)
  /** Directives of a page's content security policy: the sources that it may load from. */
  sources?: Record<string, string[]>
}

/** Serves public documents for GET and HEAD. Pages of other sites may read them, because they contain no personal data. */
export function staticFiles(files: readonly StaticFile[]): Router {
  const router = Router()
  for (const { path, type, content, sources = {} } of files) {
    const directives = { defaultSrc: ["'none'"], baseUri: ["'none'"], frameAncestors: ["'none'"], ...sources }
    const headers = headersOf({ directives })
    headers.set('cache-control', 'no-cache').set('access-control-allow-origin', '*').set('content-type', type)
    // The default would keep pages of other sites from reading it.
    headers.set('cross-origin-resource-policy', 'cross-origin')
    router.get(path, ({ baseUrl, path: asked }, response) => {
      // A page's links are relative to its path, which has no slash at its end.
      if (asked.endsWith('/')) return response.redirect(`../${path.slice(path.lastIndexOf('/') + 1)}`)
      response.setHeaders(headers).end(typeof content === 'string' ? content : content(baseUrl))
    })
  }
  return router
}

/** A file of a page. */
export interface SiteFile {
  bytes: Buffer
  /** The bytes compressed with Brotli, for browsers that accept it; undefined if compression saves too little. */
  br?: Buffer | undefined
  /** Its Content-Type. */
  type: string
  etag: string
  /** Whether its name is derived from its content, so that browsers may keep it. */
  immutable: boolean
}

/** A service's own page for people. It is served without authentication, and contains no personal data. */
export interface Site {
  /** Its content security policy. */
  policy: string
  /**
   * Returns the file for a path outside of the API; undefined for none.
   * @param prefix the path prefix at a proxy, for the links of a page; empty for none
   */
  read(path: string, prefix: string): { status: 200 | 404; file: SiteFile } | undefined
}

/** Paths that are never part of a page: operations and their documentation. */
const others = /^\/(v\d+|docs|openapi\.json|healthz|readyz)(\/|$)/

const yearSeconds = 365 * 24 * 60 * 60

/** Serves the files of a page for GET and HEAD: compressed if the browser accepts that, and 304 if it has the file. */
export function site({ policy, read }: Site): RequestHandler {
  const headers = headersOf({ directives: { defaultSrc: ["'none'"] } })
  headers.set('content-security-policy', policy).set('vary', 'accept-encoding')
  // No route of Express, which would answer OPTIONS of every path of the API with the methods of a page.
  return (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const found = isRead && !others.test(request.path) ? read(request.path, request.baseUrl) : undefined
    if (!found) return next()
    // People get a page for an unknown path. Programs get the problem of the API.
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

/** Without this, Swagger UI would have the document of a page on another machine checked by validator.swagger.io. */
const swaggerOptions = { validatorUrl: null }

/** How people sign in on the page: the options of swagger-ui-express, and the further origins that the page may send requests to. */
export interface PageSignIn {
  oauth: object
  origins: () => Promise<string[]>
}

/** Serves the interactive page. It loads only its own files and the document, and runs no inline script. */
export function docs(title: string, signIn: PageSignIn | undefined): Router {
  const options = { ...swaggerOptions, ...(signIn && { oauth: signIn.oauth }) }
  // The page loads the document by its URL, because it changes: it has no sign-in while the issuer does not answer.
  const page = swaggerUi.generateHTML(undefined, {
    customSiteTitle: title,
    swaggerUrl: '../openapi.json',
    swaggerOptions: options,
  })
  const directives = {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", ...stylesIn(page)],
    // The style sheet has icons as data URLs.
    imgSrc: ["'self'", 'data:'],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  }
  const set: RequestHandler = async (_request, response, next) => {
    const connectSrc = ["'self'", ...((await signIn?.origins()) ?? [])]
    // The issuer's page opens in its own window, returns to oauth2-redirect.html, and calls the page that opened it.
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
      // Without the slash, the page's relative links would not work.
      .get('/', ({ originalUrl }, response, next) =>
        originalUrl.replace(/\?.*/s, '').endsWith('/') ? next() : response.redirect('docs/'),
      )
      .get('/oauth2-redirect.html', keepOpener)
      .use(swaggerUi.serve)
      .get('/', (_request, response) => response.send(page))
  )
}

/**
 * Returns the hashes of inline styles, so that the policy allows only these: swagger-ui-express has a few in the page itself and one in an
 * attribute, and the logo of Swagger UI has one.
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
