import { Router } from 'express'

/** What a service lacks, by part, in words that may be public. Empty when it is ready. */
export type Readiness = () => Promise<{ sidecar?: string; store?: string; stream?: string }>

/**
 * `GET /healthz` is 200 as long as the process answers; `GET /readyz` is 503 while requests or events would wait. Anybody may ask, as often
 * as he likes, so those who ask at the same time share one answer.
 */
export function healthRoutes(readiness: Readiness): Router {
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
      if (Object.keys(missing).length === 0) response.json({ status: 'ready' })
      else response.status(503).json({ status: 'not ready', missing })
    })
}
