import type { Request, RequestHandler, Response } from 'express'
import { type Handling, within } from '../telemetry/handling.ts'
import { guidOf, newTraceId, placeIn, type Span, type Tracing } from '../telemetry/traces/trace.ts'
import { whenEnded } from './ended.ts'
import type { ShownPath } from './shown-path.ts'

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
