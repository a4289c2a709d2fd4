import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RequestHandler, Router } from 'express'
import getAbsoluteFSPath from 'swagger-ui-dist/absolute-path.js'
import swaggerUi from 'swagger-ui-express'
import { headersOf, yearSeconds } from './security.ts'

export interface StaticFile {
  path: string
  /** The media type; texts also have a charset. */
  type: string
  /** The text, or a function that returns the text for a proxy's path prefix. The prefix may be empty. */
  content: string | ((prefix: string) => string)
  /** The sources that a page may load from, by directive of its content security policy. */
  sources?: Record<string, string[]>
}

/** Serves public documents for GET and HEAD. Pages of other sites may read them, too. */
export function staticFiles(files: readonly StaticFile[]): Router {
  const router = Router()
  for (const { path, type, content, sources = {} } of files) {
    const directives = { defaultSrc: ["'none'"], baseUri: ["'none'"], frameAncestors: ["'none'"], ...sources }
    const headers = headersOf(directives)
    headers.set('cache-control', 'no-cache').set('access-control-allow-origin', '*').set('content-type', type)
    headers.set('cross-origin-resource-policy', 'cross-origin')
    router.get(path, ({ baseUrl, path: asked }, response) => {
      // The page's links are relative to its path, and work only if the path has no slash at the end.
      if (asked.endsWith('/')) return response.redirect(`../${path.slice(path.lastIndexOf('/') + 1)}`)
      response.setHeaders(headers).end(typeof content === 'string' ? content : content(baseUrl))
    })
  }
  return router
}

export interface SiteFile {
  bytes: Buffer
  /** The bytes compressed with Brotli; undefined if compression saves too little. */
  br?: Buffer | undefined
  type: string
  etag: string
  /** True if browsers may keep the file, because its name contains a hash of the content. */
  immutable: boolean
}

/** A service's own page for people. It is public, so it must not contain personal data. */
export interface Site {
  policy: string
  /**
   * Returns the file for a path outside of the API; undefined if the file does not exist.
   * @param prefix the path prefix at a proxy; may be empty
   */
  read(path: string, prefix: string): { status: 200 | 404; file: SiteFile } | undefined
}

const others = /^\/(v\d+|docs|openapi\.json|livez|readyz)(\/|$)/

/** Serves the files of a page for GET and HEAD, compressed if possible. Answers 304 if the browser has the file. */
export function site({ policy, read }: Site): RequestHandler {
  const headers = headersOf({ defaultSrc: ["'none'"] })
  headers.set('content-security-policy', policy).set('vary', 'accept-encoding')
  // This is not a route of Express, because a route would answer OPTIONS for every path with the methods of a page.
  return (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const found = isRead && !others.test(request.path) ? read(request.path, request.baseUrl) : undefined
    if (!found) return next()
    // For an unknown path, people get a page, and programs get problem details.
    if (found.status === 404 && request.accepts(['json', 'html']) !== 'html') return next()
    const { bytes, br, type, etag, immutable } = found.file
    response.setHeaders(headers).setHeader('content-type', type).setHeader('etag', etag)
    response.setHeader('cache-control', immutable ? `public, max-age=${yearSeconds}, immutable` : 'no-cache')
    if (request.fresh) return void response.status(304).end()
    const compressed = request.acceptsEncodings('br', 'identity') === 'br' ? br : undefined
    if (compressed) response.setHeader('content-encoding', 'br')
    response.status(found.status).end(compressed ?? bytes)
  }
}

// Only `swagger-ui-dist/absolute-path.js` is imported, because the main module of swagger-ui-dist would run the whole page in this process.

/** Stops Swagger UI from sending the document to validator.swagger.io. */
const swaggerOptions = { validatorUrl: null }

/** The sign-in options of swagger-ui-express, and the origins to which the page may send requests. */
export type PageSignIn = { oauth: object; origins: () => Promise<string[]> }

/** Serves the interactive page of the API. It loads only its own files and the OpenAPI document, and runs no inline script. */
export function docs(title: string, signIn: PageSignIn | undefined): Router {
  const options = { ...swaggerOptions, ...(signIn && { oauth: signIn.oauth }) }
  // The page loads the document by its URL, because the document can change: it has no sign-in while the issuer is unavailable.
  const page = swaggerUi.generateHTML(undefined, {
    customSiteTitle: title,
    swaggerUrl: '../openapi.json',
    swaggerOptions: options,
  })
  const directives = {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'", ...stylesIn(page)],
    // The style sheet contains icons as data URLs.
    imgSrc: ["'self'", 'data:'],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  }
  const set: RequestHandler = async (_request, response, next) => {
    const connectSrc = ["'self'", ...((await signIn?.origins()) ?? [])]
    // The sign-in opens the issuer's page in a new window. That window returns to oauth2-redirect.html, which calls a function of the first window.
    const headers = headersOf({ ...directives, connectSrc }, 'same-origin-allow-popups')
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
      // The page's relative links work only if the path has a slash at the end.
      .get('/', ({ originalUrl }, response, next) =>
        originalUrl.replace(/\?.*/s, '').endsWith('/') ? next() : response.redirect('docs/'),
      )
      .get('/oauth2-redirect.html', keepOpener)
      .use(swaggerUi.serve)
      .get('/', (_request, response) => response.send(page))
  )
}

/** Returns the hashes of the page's inline styles, so that the policy allows only these styles. */
function stylesIn(page: string): string[] {
  const ofPage = [...page.matchAll(/<style>([\s\S]*?)<\/style>/g), ...page.matchAll(/\sstyle="([^"]*)"/g)]
  const found = [...ofPage.map(([, style = '']) => style), ...stylesOfPreset()]
  const hashes = found.map((style) => createHash('sha256').update(style).digest('base64'))
  return [...hashes.map((hash) => `'sha256-${hash}'`), "'unsafe-hashes'"]
}

let presetStyles: string[] | undefined
/** Returns the styles that a script of Swagger UI adds. Reads this large file once. */
function stylesOfPreset(): string[] {
  if (presetStyles) return presetStyles
  const preset = readFileSync(join(getAbsoluteFSPath(), 'swagger-ui-standalone-preset.js'), 'utf8')
  presetStyles = [...preset.matchAll(/createElement\("style",null,"([^"\\]*)"\)/g)].map(([, style = '']) => style)
  return presetStyles
}
