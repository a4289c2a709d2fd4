import type { RequestListener } from 'node:http'
import express from 'express'
import type { Auth } from '../auth/auth.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import type { Tracing } from '../telemetry/traces/trace.ts'
import { authenticate } from './authenticate.ts'
import { answerHeaders, refuseForeignPosts, requireKnownHost } from './browser-security.ts'
import { healthRoutes, type Readiness, type Redelivered } from './health.ts'
import { measured, traceRequests } from './observe-requests.ts'
import { type Documented, openapiOf, pageSignIn, secured } from './openapi.ts'
import { docs, type Site, type StaticFile, site, staticFiles } from './pages.ts'
import { requirePathPrefix, withPathPrefix } from './path-prefix.ts'
import { problemHandler } from './problems.ts'
import { type Limits, rateLimits } from './rate-limits.ts'
import { routerOf, shownPath, unknownPath } from './route.ts'

export interface WebOptions extends Documented {
  readiness: Readiness
  /** Records that are delivered again and again. */
  redelivered?: () => readonly Redelivered[]
  /** Undefined where nobody is asked who they are. */
  auth: Auth | undefined
  /** Further names that this service answers under, by commas, where callers do not prove who they are; see `requireKnownHost`. */
  hosts: string
  /**
   * How many proxies are in front, each of which says in X-Forwarded-For whom it got a request from, and may say in X-Forwarded-Prefix
   * below which path it serves this.
   */
  proxies: number
  limits: Limits | undefined
  /** None when left out. */
  files?: readonly StaticFile[]
  /** Undefined: the page is that of the operations. */
  page?: Site | undefined
  /** Undefined where no trace is recorded. */
  tracing?: Tracing | undefined
  log: Logger
  metrics: Pick<Metrics, 'request'>
}

/** The public listener: the service's routes, their interactive page at /docs, health, and problem details for all else. */
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
  const { ofStrangers, ofCallers } = rateLimits(limits)
  // No client asks with If-None-Match, and a hash of each answer costs as much as validating the request.
  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', proxies)
  app.use(measured(routes, metrics))
  app.use(answerHeaders())
  // Before the limits: a platform asks from the address that its users' requests come from, too.
  app.use(healthRoutes(readiness, redelivered))
  if (!auth) app.use(requireKnownHost(hosts))
  app.use(requirePathPrefix(proxies))
  for (const limit of ofStrangers) app.use(limit)
  if (page) app.use(site(page))
  // Relative where the prefix is not known: a proxy may strip one and not send it.
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
