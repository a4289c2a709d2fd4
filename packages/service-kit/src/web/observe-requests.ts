import type { Request, RequestHandler, Response } from 'express'
import { type Handling, within } from '../telemetry/handling.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import { guidOf, newTraceId, placeIn, type Span, type Tracing } from '../telemetry/traces/trace.ts'
import type { Route, ShownPath } from './route.ts'

/**
 * Handles each request in the trace that its W3C `traceparent` names, or in a new one, and records it where that is sampled.
 * (https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-server-span)
 */
export function traceRequests(tracing: Tracing | undefined, shown: ShownPath): RequestHandler {
  return (request, response, next) => {
    const traceparent = request.get('traceparent')
    const client = placeIn(traceparent)
    const traceId = client?.traceId ?? newTraceId()
    const handling: Handling = { document: undefined, traceId: guidOf(traceId), traceparent: client && traceparent }
    if (tracing?.isSampled(traceId, client)) {
      const attributes = attributesOf(request, shown)
      handling.span = tracing.begin(methodOf(request), traceId, client, { kind: 'server', attributes })
      endWith(handling.span, request, response)
    }
    within(handling, next)
  }
}

/** Not what only the client can know, nor who it is: neither query, nor host, nor address. */
function attributesOf(request: Request, shown: ShownPath) {
  return {
    'http.request.method': methodOf(request, '_OTHER'),
    'url.scheme': request.protocol,
    'url.path': shown(request.path),
    'network.protocol.version': request.httpVersion,
  }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY'])

/** Names of spans are few: a client may make up a method. */
const methodOf = ({ method }: Request, other = 'HTTP') => (methods.has(method) ? method : other)

function endWith(span: Span, request: Request, response: Response): void {
  whenEnded(request, response, ({ route, status, isAnswered }) => {
    if (route) span.rename(`${methodOf(request)} ${route}`)
    span.set({ 'http.route': route, 'http.response.status_code': status })
    if (!isAnswered) span.end('aborted')
    else span.end(status >= 500 ? String(status) : undefined)
  })
}

/** Tells of each request, when it was answered or its client has left, which operation it was of and how long it took. */
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

/** How a request ended. */
export interface Ended {
  /** Its path as OpenAPI writes it; undefined when there is none for it. */
  route: string | undefined
  /** The status that was to be answered. */
  status: number
  /** False when the client left before. */
  isAnswered: boolean
}

/** Tells how a request ended: once its answer was sent, or its client has left. */
export function whenEnded(request: Request, response: Response, tell: (ended: Ended) => void): void {
  response.once('close', () => {
    const { route } = request as { route?: { path: string } }
    tell({
      route: route?.path.replace(/:(\w+)/g, '{$1}'),
      status: response.statusCode,
      isAnswered: response.writableFinished,
    })
  })
}
