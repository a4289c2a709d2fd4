import type { Request, RequestHandler, Response } from 'express'
import { type Handling, within } from '../telemetry/handling.ts'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import { guidOf, newTraceId, placeIn, type Span, type Tracing } from '../telemetry/traces/trace.ts'
import type { Route, ShownPath } from './route.ts'

/**
 * Handles each request in the trace of its W3C `traceparent`, or in a new one, and records it if the trace is sampled.
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

/** Returns a span's attributes, without data of the client: no query, host or address. */
function attributesOf(request: Request, shown: ShownPath) {
  return {
    'http.request.method': methodOf(request, '_OTHER'),
    'url.scheme': request.protocol,
    'url.path': shown(request.path),
    'network.protocol.version': request.httpVersion,
  }
}

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY'])

/** Returns the method, or `other` for an unknown one, so that clients cannot add names of spans. */
const methodOf = ({ method }: Request, other = 'HTTP') => (methods.has(method) ? method : other)

function endWith(span: Span, request: Request, response: Response): void {
  whenEnded(request, response, ({ route, status, isAnswered }) => {
    if (route) span.rename(`${methodOf(request)} ${route}`)
    span.set({ 'http.route': route, 'http.response.status_code': status })
    if (!isAnswered) span.end('aborted')
    else span.end(status >= 500 ? String(status) : undefined)
  })
}

/** Measures each request's operation, status and duration, once it was answered or its client has left. */
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

/** The outcome of a request. */
export interface Ended {
  /** The path of its route, as in OpenAPI; undefined when no route matches. */
  route: string | undefined
  /** The status of the answer, even if it was not sent. */
  status: number
  /** False when the client left before the answer was sent. */
  isAnswered: boolean
}

/** Calls `tell` with the outcome of a request, once its answer was sent or its client has left. */
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
