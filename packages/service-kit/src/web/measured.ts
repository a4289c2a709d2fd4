import type { RequestHandler } from 'express'
import type { Metrics } from '../telemetry/metrics/metrics.ts'
import { whenEnded } from './ended.ts'
import type { Route } from './route.ts'

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
