import type { RequestListener } from 'node:http'
import express from 'express'
import type { Auth } from '../auth/auth.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import type { Tracing } from '../telemetry/traces/trace.ts'
import { authenticate } from './authenticate.ts'
import { answerHeaders, refuseForeignPosts, requireKnownHost } from './browser-security.ts'
import { healthRoutes, type Readiness, type Redelivered } from './health.ts'
import { personalIn } from './model.ts'
import { measured, traceRequests } from './observe-requests.ts'
import { type Documented, openapiOf, pageSignIn, secured } from './openapi.ts'
import { docs, type Site, type StaticFile, site, staticFiles } from './pages.ts'
import { requirePathPrefix, withPathPrefix } from './path-prefix.ts'
import { problemHandler } from './problems.ts'
import { type Limits, rateLimits } from './rate-limits.ts'
import { routerOf, shownPath, unknownPath } from './route.ts'

export interface WebOptions extends Documented {
  readiness: Readiness
  /** Returns the records that are delivered repeatedly. */
  redelivered?: () => readonly Redelivered[]
  /** Undefined without authentication. */
  auth: Auth | undefined
  /** Further host names, separated by commas, that are answered without authentication; see `requireKnownHost`. */
  hosts: string
  /**
   * How many proxies are in front. Each adds the sender's address to X-Forwarded-For, and may send in X-Forwarded-Prefix the path that it
   * serves this service at.
   */
  proxies: number
  limits: Limits | undefined
  files?: readonly StaticFile[]
  /** Undefined for the page of the operations. */
  page?: Site | undefined
  /** Undefined if traces are not recorded. */
  tracing?: Tracing | undefined
  log: Logger
  metrics: Pick<Metrics, 'request'>
}

/** Creates the public listener: the service's routes, their interactive page at /docs, health, and problem details for other requests. */
export function createWeb(options: WebOptions): RequestListener {
  const {
    readiness,
    redelivered,
    auth,
    hosts,
    proxies,
    limits,
    files = [],
    page,
    metrics,
    tracing,
    log,
    ...documented
  } = options
  const { title, routes, refusals } = documented
  const openapi = openapiOf(documented)
  log.mask.hide(personalIn(openapi.components))
  const { ofStrangers, ofCallers } = rateLimits(limits)
  // No ETags: clients do not send If-None-Match, and a hash of each answer costs as much as validating the request.
  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', proxies)
  app.use(measured(routes, metrics))
  app.use(answerHeaders())
  // Before the limits: a platform's probes come from the same address as its users' requests.
  app.use(healthRoutes(readiness, redelivered))
  if (!auth) app.use(requireKnownHost(hosts))
  app.use(requirePathPrefix(proxies))
  for (const limit of ofStrangers) app.use(limit)
  if (page) app.use(site(page))
  // Relative without a known prefix, because a proxy may strip one without sending it.
  app.get('/', ({ baseUrl }, response) => response.redirect(baseUrl ? `${baseUrl}/docs/` : 'docs/'))
  app.get('/openapi.json', async (_request, response) => {
    response.json(auth ? await secured(openapi, auth, routes) : openapi)
  })
  app.use('/docs', docs(title, auth?.issuer && pageSignIn(auth.issuer, routes)))
  app.use(staticFiles(files))
  app.use(traceRequests(tracing, shownPath(routes)))
  app.use(refuseForeignPosts)
  if (auth) app.use(authenticate(auth))
  for (const limit of ofCallers) app.use(limit)
  app.use(routerOf(routes))
  app.use(unknownPath(routes))
  app.use(problemHandler(refusals, shownPath(routes), log))
  return withPathPrefix(app, proxies)
}
