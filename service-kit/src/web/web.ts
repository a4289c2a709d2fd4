import express, { type Express } from 'express'
import swaggerUi from 'swagger-ui-express'
import type { Auth } from '../auth/auth.ts'
import type { Logger } from '../telemetry/log.ts'
import { authenticate } from './authenticate.ts'
import { refuseForeignPosts, unframed } from './foreign-posts.ts'
import { healthRoutes, type Readiness } from './health.ts'
import { type Documented, openapiOf } from './openapi.ts'
import { problemHandler } from './problem-handler.ts'
import { routerOf, unknownPath } from './router.ts'
import { pageSignIn, secured } from './security.ts'

export interface WebOptions extends Documented {
  readiness: Readiness
  /** Undefined where nobody is asked who they are. */
  auth: Auth | undefined
  log: Logger
}

/** The public listener: the service's routes, their interactive page at /docs, health, and problem details for all else. */
export function createWeb({ readiness, auth, log, ...documented }: WebOptions): Express {
  const { title, routes, refusals } = documented
  const openapi = openapiOf(documented)
  const page = {
    customSiteTitle: title,
    swaggerUrl: '/openapi.json',
    swaggerOptions: auth?.issuer?.clientId ? { oauth: pageSignIn(auth.issuer, routes) } : {},
  }
  // No client asks with If-None-Match, and a hash of each answer costs as much as validating the request.
  const app = express().disable('x-powered-by').disable('etag')
  app.get('/', (_request, response) => response.redirect('/docs/'))
  app.get('/openapi.json', async (_request, response) => {
    response.json(auth ? await secured(openapi, auth, routes) : openapi)
  })
  app.use('/docs', unframed, swaggerUi.serve, swaggerUi.setup(undefined, page))
  app.use(healthRoutes(readiness))
  if (auth) app.use(authenticate(auth))
  app.use(refuseForeignPosts)
  app.use(routerOf(routes))
  app.use(unknownPath)
  app.use(problemHandler(refusals, log))
  return app
}
