import express, { type Express } from 'express'
import swaggerUi from 'swagger-ui-express'
import type { Logger } from '../telemetry/log.ts'
import { bodies } from './body.ts'
import { refuseForeignPosts, unframed } from './foreign-posts.ts'
import { healthRoutes, type Readiness } from './health.ts'
import { type Documented, openapiOf } from './openapi.ts'
import { problemHandler } from './problem-handler.ts'
import { routerOf, unknownPath } from './router.ts'

export interface WebOptions extends Documented {
  readiness: Readiness
  log: Logger
}

/** The public listener: the service's routes, their interactive page at /docs, health, and problem details for all else. */
export function createWeb({ readiness, log, ...documented }: WebOptions): Express {
  const { title, routes, refusals } = documented
  const openapi = openapiOf(documented)
  // No client asks with If-None-Match, and a hash of each answer costs as much as validating the request.
  const app = express().disable('x-powered-by').disable('etag')
  app.get('/', (_request, response) => response.redirect('/docs/'))
  app.get('/openapi.json', (_request, response) => response.json(openapi))
  app.use('/docs', unframed, swaggerUi.serve, swaggerUi.setup(openapi, { customSiteTitle: title }))
  app.use(healthRoutes(readiness))
  app.use(refuseForeignPosts)
  app.use(bodies())
  app.use(routerOf(routes))
  app.use(unknownPath)
  app.use(problemHandler(refusals, log))
  return app
}
