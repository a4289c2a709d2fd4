import express, { type Express, type RequestHandler, type Router } from 'express'
import swaggerJsdoc from 'swagger-jsdoc'
import swaggerUi from 'swagger-ui-express'
import type { Logger } from '../telemetry/log.ts'
import { sharedComponents } from './openapi.ts'
import { Problem, problemHandler, unknownRoute } from './problem.ts'

export interface WebOptions {
  title: string
  description: string
  /** Files whose `@openapi` comments describe the operations. */
  apiFiles: string[]
  routes: Router
  isReady: () => Promise<boolean>
  log: Logger
}

/** Far more than any request here needs. An event takes over known fields of limited length only, so it stays small. */
const maxBodyBytes = 64 * 1024

/** The public listener: the service's routes, their interactive page at /docs, health, and problem details for all else. */
export function createWeb({ title, description, apiFiles, routes, isReady, log }: WebOptions): Express {
  const info = { title, description, version: '1' }
  const definition = { openapi: '3.0.3', info, servers: [{ url: '/' }], components: sharedComponents }
  const openapi = swaggerJsdoc({ definition, apis: apiFiles, failOnErrors: true }) as { paths: Record<string, object> }

  // No client asks with If-None-Match, and a hash of each answer costs as much as validating the request.
  const app = express().disable('x-powered-by').disable('etag')
  app.get('/', (_request, response) => response.redirect('/docs/'))
  app.get('/openapi.json', (_request, response) => response.json(openapi))
  app.use('/docs', swaggerUi.serve, swaggerUi.setup(openapi, { customSiteTitle: title }))
  app.get('/healthz', (_request, response) => response.json({ status: 'up' }))
  app.get('/readyz', async (_request, response) => {
    const ready = await isReady()
    response.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'the sidecar does not answer' })
  })
  app.use(refuseForeignPosts)
  app.use((request, _response, next) => {
    const isJson = request.method !== 'POST' || !hasBody(request.headers) || request.is('json')
    if (isJson) return next()
    throw new Problem(415, 'not-json', 'The body is not JSON', { detail: 'Send Content-Type: application/json.' })
  })
  // Not strict: null and other values that are no object are JSON all the same, and the routes tell what they lack.
  app.use(express.json({ limit: maxBodyBytes, strict: false }))
  app.use(routes)
  app.use(unknownRoute(openapi.paths))
  app.use(problemHandler(log))
  return app
}

/**
 * A page of another site can make a visitor's browser send a POST without asking first (no preflight) when it has no JSON
 * body, such as a cancellation, and so reach a service that only the visitor's network can. Browsers name the page's origin
 * in `Origin`; programs send none. Only the host is compared: a proxy in front may have ended TLS.
 */
const refuseForeignPosts: RequestHandler = (request, _response, next) => {
  const { origin, host = '', 'sec-fetch-site': site } = request.headers
  const isOwn = origin === undefined || URL.parse(origin)?.host === host.toLowerCase()
  if (request.method !== 'POST' || (isOwn && site !== 'cross-site')) return next()
  throw new Problem(403, 'foreign-origin', 'Refused from another site', {
    detail: `A browser sent this from a page of ${origin ?? 'another site'}, and only pages of ${host} may. Programs send no Origin header.`,
  })
}

function hasBody(headers: Record<string, unknown>): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
}
