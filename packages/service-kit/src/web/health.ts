import { Router } from 'express'

/** Returns why each missing part is missing, in words that may be public. Empty when the service is ready. */
export type Readiness = () => Promise<{ sidecar?: string; store?: string; stream?: string }>

/** A record that cannot be handled at present, and is delivered repeatedly. */
export interface Redelivered {
  topic: string
  partition: number
  offset: string
  deliveries: number
}

/**
 * Serves `GET /healthz`, which is 200 as long as the process answers, and `GET /readyz`, which is 503 while requests or events would wait.
 * The latter also lists the records that are delivered repeatedly. Both are public and unlimited, so concurrent callers share one check.
 */
export function healthRoutes(readiness: Readiness, redelivered: () => readonly Redelivered[] = () => []): Router {
  let current: ReturnType<Readiness> | undefined
  const shared: Readiness = () => {
    current ??= readiness().finally(() => {
      current = undefined
    })
    return current
  }
  return Router()
    .get('/healthz', (_request, response) => response.json({ status: 'up' }))
    .get('/readyz', async (_request, response) => {
      const missing = await shared()
      const again = redelivered()
      const rest = again.length > 0 && { redelivered: again }
      if (Object.keys(missing).length === 0) response.json({ status: 'ready', ...rest })
      else response.status(503).json({ status: 'not ready', missing, ...rest })
    })
}
