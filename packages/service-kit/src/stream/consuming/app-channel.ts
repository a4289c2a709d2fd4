import { timingSafeEqual } from 'node:crypto'
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express'
import type { Logger } from '../../telemetry/log.ts'
import type { Consumer } from './consumer.ts'
import { createTurns, readParts } from './delivery-body.ts'

/**
 * The bytes of all deliveries that are handled at the same time, because parsed events take many times their size in memory. Each of twelve consumers
 * may deliver.
 */
const maxBytes = 8 * 1024 * 1024

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
  const takeTurn = createTurns(maxBytes)
  for (const [topic, deliver] of Object.entries(options.consumers)) {
    app.post(`/subscriptions/${topic}`, async (request, response) => {
      response.json({ statuses: await deliver(readParts(request, takeTurn)) })
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

/** Answers 500, so that Dapr repeats the delivery. */
function failed(log: Logger): ErrorRequestHandler {
  return (err: unknown, request, response, _next) => {
    log.error({ path: request.path, err }, 'a call from the sidecar failed')
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
