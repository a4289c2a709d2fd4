import type { RequestListener } from 'node:http'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { sameToken } from '../stream/same-token.ts'
import type { Logger } from '../telemetry/log.ts'
import type { DryRun } from './dry-run.ts'

/** A record of 256 KiB in base64, and what stands beside it. */
const maxBytes = 512 * 1024

/**
 * The listener that others in the service's own network reach: `POST /dry-run` with the token (`Authorization: Bearer ...`) says what the service would
 * do with a record (`TriedRecord`, answered with `Tried`; 401, 400, 413), and `others` answers all else. No byte of a body is read without
 * the token. Where there is nobody to ask, since the service reacts to nothing, or no token to know him by, there is no such path.
 */
export function withDryRun(
  others: RequestListener,
  { dryRun, token, log }: { dryRun: DryRun | undefined; token: string; log: Logger },
): RequestListener {
  if (!dryRun || !token) return others
  const app: Express = express().disable('x-powered-by').disable('etag')
  app.post(
    '/dry-run',
    (request, response, next) => {
      if (sameToken(`Bearer ${token}`, request.get('authorization'))) return next()
      response.status(401).end()
    },
    express.json({ limit: maxBytes, inflate: false }),
    async (request, response) => {
      response.json(await dryRun(request.body))
    },
  )
  app.use((request, response) => others(request, response))
  app.use(failed(log))
  return app
}

/** A body that is wrong is not logged: it may hold anything. */
function failed(log: Logger): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const { status } = (error ?? {}) as { status?: number }
    if (status === undefined) log.error({ err: error }, 'a record could not be tried')
    response.status(status ?? 500).end()
  }
}
