import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Logger } from '../telemetry/log.ts'
import type { Consumer } from './consumer.ts'
import type { BulkEntry } from './delivery.ts'
import { sameToken } from './same-token.ts'

/**
 * Above any bulk delivery: 100 records (components/subscriptions.*.yaml) of 256 KiB (packages/service-kit/src/stream/topic-settings.ts). At worst they are
 * all key and headers, a byte of which takes up to six when it arrives escaped: 157 MB. There must be no refusal for size,
 * since Dapr would send the same delivery for ever.
 */
const maxDeliveryBytes = 192 * 1024 * 1024

/**
 * The listener that only the sidecar may call, on Dapr's HTTP contract. Subscriptions themselves are declared in
 * `components/`. Whatever is not known here answers 503: Dapr takes a 404 for an acknowledgement.
 */
export function createAppChannel(options: {
  token: string
  /** What handles the deliveries of each topic. */
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
      'the sidecar asked for an unknown path; check components/subscriptions.*.yaml',
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

/** Dapr delivers again what was answered with a 500. Of an unreadable body only the kind of mistake is logged. */
function failed(log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const { type } = (error ?? {}) as { type?: string }
    log.error({ path: request.path, ...(type ? { reason: type } : { err: error }) }, 'a call of the sidecar failed')
    response.status(500).end()
  }
}

function requireToken(token: string): RequestHandler {
  return (request, response, next) => {
    if (sameToken(token, request.get('dapr-api-token'))) return next()
    response.status(401).end()
  }
}
