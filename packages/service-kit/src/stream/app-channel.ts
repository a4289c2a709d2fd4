import { timingSafeEqual } from 'node:crypto'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Logger } from '../telemetry/log.ts'
import type { Consumer } from './consumer.ts'
import type { BulkEntry } from './record.ts'

/**
 * The size limit of a delivery. The largest possible delivery has 100 records (components/subscriptions.*.yaml) of 256 KiB (topic-settings.ts). An
 * escaped byte of a header takes up to six bytes, so such a delivery has up to 157 MB. The sidecar would repeat a refused delivery without end.
 */
const maxDeliveryBytes = 192 * 1024 * 1024

/** Creates the listener that Dapr requires for calls of the sidecar. Unknown paths get 503, because Dapr treats a 404 as an acknowledgement. */
export function createAppChannel(options: {
  token: string
  consumers: Record<string, Consumer['deliver']>
  log: Logger
}): Express {
  const app = express().disable('x-powered-by').disable('etag')
  app.use(requireToken(options.token))
  app.get('/dapr/config', (_request, response) => response.json({}))
  app.get('/dapr/subscribe', (_request, response) => response.json([]))
  for (const [topic, deliver] of Object.entries(options.consumers)) {
    app.post(`/subscriptions/${topic}`, express.json({ limit: maxDeliveryBytes }), async (request, response) => {
      response.json({ statuses: await deliver(entriesOf(request.body)) })
    })
  }
  app.use((request, response) => {
    options.log.error(
      { path: request.path },
      'the sidecar called an unknown path; check components/subscriptions.*.yaml',
    )
    response.status(503).end()
  })
  app.use(failed(options.log))
  return app
}

function entriesOf(body: unknown): BulkEntry[] {
  const { entries } = (body ?? {}) as { entries?: unknown }
  if (Array.isArray(entries)) return entries
  throw new TypeError('the delivery has no list of entries')
}

/** Answers 500, so that Dapr repeats the delivery. If the body is unreadable, it logs only the type of the error. */
function failed(log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const { type } = (error ?? {}) as { type?: string }
    log.error({ path: request.path, ...(type ? { reason: type } : { err: error }) }, 'a call from the sidecar failed')
    response.status(500).end()
  }
}

function requireToken(token: string): RequestHandler {
  return (request, response, next) => {
    if (sameToken(token, request.get('dapr-api-token'))) return next()
    response.status(401).end()
  }
}

/** Returns true if a caller's token equals the expected token. The comparison takes constant time. */
export function sameToken(expected: string, given: string | undefined): boolean {
  const [expectedBytes, givenBytes] = [Buffer.from(expected), Buffer.from(given ?? '')]
  return givenBytes.length === expectedBytes.length && timingSafeEqual(givenBytes, expectedBytes)
}
