import type { IncomingMessage, RequestListener } from 'node:http'
import express, { type Express, type Request, type RequestHandler, type Response, Router } from 'express'
import type { Auth } from '../auth/auth.ts'
import {
  guidOf,
  type Handling,
  newTraceId,
  type Span,
  spanContextIn,
  type Tracing,
  traceHeadersIn,
  within,
} from '../telemetry/context.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import { type Documented, openapiOf, pageSignIn, secured } from './openapi.ts'
import { docs, type Site, type StaticFile, site, staticFiles } from './pages.ts'
import { HttpProblem, invalid, problemHandler } from './problems.ts'
import { type Limits, rateLimits } from './rate-limits.ts'
import { type Route, routerOf, type ShownPath, shownPath, unknownPath } from './route.ts'
import { answerHeaders, authenticate, refuseForeignPosts, requireKnownHost } from './security.ts'

export interface WebOptions extends Documented {
  readiness: Readiness
  /** Returns the reason why the process must be restarted. */
  stalled?: (() => string | undefined) | undefined
  /** Returns the records that are delivered again and again. */
  redelivered?: (() => readonly object[]) | undefined
  /** Returns the problems in spite of which the service is ready. */
  warnings?: (() => readonly string[]) | undefined
  auth: Auth | undefined
  hosts: string
  /**
   * The number of proxies before the service. Each proxy adds the address of its caller to X-Forwarded-For. In X-Forwarded-Prefix, a proxy may send
   * the path at which clients reach the service.
   */
  proxies: number
  limits: Limits | undefined
  files?: readonly StaticFile[] | undefined
  /** The start page; the default is the page of operations. */
  page?: Site | undefined
  tracing?: Tracing | undefined
  log: Logger
  metrics: Pick<Metrics, 'request'>
}

/** Creates the public listener: routes, their interactive page at /docs, health, and problem details for other requests. */
export function createWeb(options: WebOptions): RequestListener {
  const { auth, proxies, page, tracing, log, title, routes, refusals } = options
  const openapi = openapiOf(options)
  log.mask.hide(personalIn(openapi.components))
  const { ofStrangers, ofCallers } = rateLimits(options.limits)
  // ETags are off, because their hash takes as long as validating the request, and clients do not use them.
  const app = express().disable('x-powered-by').disable('etag').set('trust proxy', proxies)
  app.use(measured(routes, options.metrics))
  app.use(answerHeaders())
  // These routes come before the limits, because a platform's probes may have the same address as its users.
  app.use(healthRoutes(options))
  if (!auth) app.use(requireKnownHost(options.hosts))
  app.use(requirePathPrefix(proxies))
  for (const limit of ofStrangers) app.use(limit)
  if (page) app.use(site(page))
  // If the prefix is unknown, the redirect is relative, because a proxy may strip a prefix and not report it.
  app.get('/', ({ baseUrl }, response) => response.redirect(baseUrl ? `${baseUrl}/docs/` : 'docs/'))
  app.get('/openapi.json', async (_request, response) => {
    response.json(auth ? await secured(openapi, auth, routes) : openapi)
  })
  app.use('/docs', docs(title, auth?.issuer && pageSignIn(auth.issuer, routes)))
  app.use(staticFiles(options.files ?? []))
  app.use(traceRequests(tracing, shownPath(routes)))
  app.use(refuseForeignPosts)
  if (auth) app.use(authenticate(auth))
  for (const limit of ofCallers) app.use(limit)
  app.use(routerOf(routes))
  app.use(unknownPath(routes))
  app.use(problemHandler(refusals, shownPath(routes), log))
  return withPathPrefix(app, proxies)
}

/** Returns the names of all properties that the contract marks as personal, at any depth. */
function personalIn(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([name, inner]) => [
    ...(Object(inner)['x-pii'] ? [name] : []),
    ...personalIn(inner),
  ])
}

/**
 * Serves an app below the path prefix that proxies send in X-Forwarded-Prefix. The proxies may strip the prefix from the path, or keep it. In
 * Express, `request.baseUrl` has the prefix, as for a mounted app. If no proxies are configured, the header is ignored.
 */
function withPathPrefix(app: Express, proxies: number): RequestListener {
  if (proxies === 0) return app
  return (request, response) => {
    const prefix = prefixOf(request, proxies)
    const { url = '' } = request
    if (prefix && url.startsWith('/')) {
      const isKept = url.startsWith(prefix) && /^([/?]|$)/.test(url.slice(prefix.length))
      const rest = isKept ? url.slice(prefix.length) : url
      Object.assign(request, { baseUrl: prefix, originalUrl: prefix + rest, url: rest.replace(/^(?!\/)/, '/') })
    }
    app(request, response)
  }
}

/** Refuses an invalid prefix, which could redirect callers to another site. */
function requirePathPrefix(proxies: number): RequestHandler {
  return (request, _response, next) => {
    if (proxies === 0 || prefixOf(request, proxies) !== undefined) return next()
    throw new HttpProblem(400, 'bad-prefix', 'X-Forwarded-Prefix is not a path prefix', {
      detail:
        'The proxy must send the path at which it serves this service, such as /shop-api: letters, digits and . _ ~ - between slashes.',
    })
  }
}

const segment = /^(?!\.\.?$)[\w.~-]+$/

/**
 * Returns the prefix, which may be empty; undefined for an invalid prefix. Each proxy may add its own prefix, and the prefix of the outermost proxy
 * is first.
 */
function prefixOf({ headers }: IncomingMessage, proxies: number): string | undefined {
  const sent = String(headers['x-forwarded-prefix'] ?? '')
    .split(',')
    .slice(-proxies)
  const prefix = sent.map((each) => each.trim().replace(/\/$/, '')).join('')
  if (prefix === '') return ''
  const [before, ...segments] = prefix.split('/')
  return before === '' && segments.every((each) => segment.test(each)) ? prefix : undefined
}

const parts = ['sidecar', 'store', 'stream'] as const
export type Part = (typeof parts)[number]

/** Returns a public reason for each part that is not ready. Empty if the service is ready. It does not check the parts in `excluded`. */
export type Readiness = (excluded?: ReadonlySet<Part>) => Promise<{ [part in Part]?: string }>

/**
 * Serves the probes of a platform (docs/operations.md). They are public and have no rate limit, so concurrent callers share one check.
 * - `GET /livez` is 503 if a restart of the process is the remedy.
 * - `GET /readyz` is 503 while requests or events would have to wait. `exclude` names parts to ignore, as in Kubernetes' own `/readyz`.
 */
export function healthRoutes(options: Pick<WebOptions, 'readiness' | 'stalled' | 'redelivered' | 'warnings'>): Router {
  const running = new Map<string, ReturnType<Readiness>>()
  function shared(excluded: ReadonlySet<Part>): ReturnType<Readiness> {
    const key = [...excluded].sort().join()
    const check = running.get(key) ?? options.readiness(excluded).finally(() => running.delete(key))
    running.set(key, check)
    return check
  }
  return Router()
    .get('/livez', (_request, response) => {
      const reason = options.stalled?.()
      if (reason === undefined) response.json({ status: 'up' })
      else response.status(503).json({ status: 'stalled', reason })
    })
    .get('/readyz', async (request, response) => {
      const missing = await shared(excludedIn(request))
      const [redelivered, warnings] = [options.redelivered?.() ?? [], options.warnings?.() ?? []]
      const rest = { ...(redelivered.length > 0 && { redelivered }), ...(warnings.length > 0 && { warnings }) }
      if (Object.keys(missing).length === 0) response.json({ status: 'ready', ...rest })
      else response.status(503).json({ status: 'not ready', missing, ...rest })
    })
}

function excludedIn({ query: { exclude = [] } }: Request): ReadonlySet<Part> {
  const names = new Set([exclude].flat())
  const excluded = parts.filter((part) => names.has(part))
  if (excluded.length === names.size) return new Set(excluded)
  throw invalid([{ pointer: 'exclude', detail: `must be ${parts.join(' or ')}, and may be repeated` }])
}

/**
 * Records each sampled request. Its span belongs to the trace of the request's `traceparent`, or to a new trace.
 * (https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server-span)
 */
function traceRequests(tracing: Tracing | undefined, shown: ShownPath): RequestHandler {
  return (request, response, next) => {
    const trace = traceHeadersIn(request.get('traceparent'), request.get('tracestate'))
    const client = spanContextIn(trace.traceparent)
    const traceId = client?.traceId ?? newTraceId()
    const handling: Handling = { document: undefined, traceId: guidOf(traceId), trace }
    if (tracing?.isSampled(traceId, client)) {
      const attributes = attributesOf(request, shown)
      handling.span = tracing.begin(methodOf(request), traceId, client, { kind: 'server', attributes })
      endWith(handling.span, request, response)
    }
    within(handling, next)
  }
}

/** Returns a span's attributes. They leave out data of the client, such as the query or the address. */
function attributesOf(request: Request, shown: ShownPath) {
  return {
    'http.request.method': methodOf(request, '_OTHER'),
    'url.scheme': request.protocol,
    'url.path': shown(request.path),
    'network.protocol.version': request.httpVersion,
  }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY'])

/** Returns the method; `other` for an unknown method, so that clients cannot invent span names. */
const methodOf = ({ method }: Request, other = 'HTTP') => (methods.has(method) ? method : other)

function endWith(span: Span, request: Request, response: Response): void {
  whenEnded(request, response, ({ route, status, isAnswered }) => {
    if (route) span.rename(`${methodOf(request)} ${route}`)
    span.set({ 'http.route': route, 'http.response.status_code': status })
    if (!isAnswered) span.end('aborted')
    else span.end(status >= 500 ? String(status) : undefined)
  })
}

export function measured(routes: readonly Route[], metrics: Pick<Metrics, 'request'>): RequestHandler {
  const operations = new Set(routes.map(({ operation: { method, path } }) => `${method.toUpperCase()} ${path}`))
  return (request, response, next) => {
    const begun = performance.now()
    const { method } = request
    whenEnded(request, response, ({ route, status, isAnswered }) => {
      metrics.request({
        operation: route !== undefined && operations.has(`${method} ${route}`) ? { method, route } : undefined,
        status: isAnswered ? status : undefined,
        ms: performance.now() - begun,
      })
    })
    next()
  }
}

/** @param tell receives the status of the answer, even if it was not sent */
function whenEnded(
  request: Request,
  response: Response,
  tell: (ended: { route: string | undefined; status: number; isAnswered: boolean }) => void,
): void {
  response.once('close', () => {
    const { route } = request as { route?: { path: string } }
    tell({
      route: route?.path.replace(/:(\w+)/g, '{$1}'),
      status: response.statusCode,
      isAnswered: response.writableFinished,
    })
  })
}
