import { timingSafeEqual } from 'node:crypto'
import express, { type Express, type RequestHandler } from 'express'
import type { Consumer } from './consumer.ts'
import type { BulkEntry } from './delivery.ts'
import type { Logger } from './log.ts'

/**
 * Above any bulk delivery: 200 records (components/subscriptions.yaml) of 256 KiB (stack/topics.json) in base64.
 * Dapr retries a 413 for ever, so there must be none.
 */
const maxDeliveryBytes = 128 * 1024 * 1024

/**
 * The listener that only the sidecar may call, on Dapr's HTTP contract. Subscriptions themselves are declared in
 * `components/`. Whatever is not known here answers 503: Dapr takes a 404 for an acknowledgement.
 */
export function createAppChannel(options: {
  token: string
  consumers: Record<string, Consumer>
  log: Logger
}): Express {
  const app = express().disable('x-powered-by').disable('etag')
  app.use(requireToken(options.token))
  app.get('/dapr/config', (_request, response) => response.json({}))
  app.get('/dapr/subscribe', (_request, response) => response.json([]))
  for (const [topic, consume] of Object.entries(options.consumers)) {
    app.post(`/subscriptions/${topic}`, express.json({ limit: maxDeliveryBytes }), async (request, response) => {
      const { entries } = request.body as { entries: BulkEntry[] }
      response.json({ statuses: await consume(entries) })
    })
  }
  app.use((request, response) => {
    options.log.error(
      { path: request.path },
      'the sidecar asked for an unknown path; check components/subscriptions.yaml',
    )
    response.status(503).end()
  })
  return app
}

function requireToken(token: string): RequestHandler {
  const expected = Buffer.from(token)
  return (request, response, next) => {
    const given = Buffer.from(request.get('dapr-api-token') ?? '')
    if (given.length === expected.length && timingSafeEqual(given, expected)) return next()
    response.status(401).end()
  }
}
