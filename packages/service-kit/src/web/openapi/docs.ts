import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RequestHandler, Router } from 'express'
// The package's main module would run the whole page in this process.
import getAbsoluteFSPath from 'swagger-ui-dist/absolute-path.js'
import swaggerUi from 'swagger-ui-express'
import { headersOf } from '../headers.ts'

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
