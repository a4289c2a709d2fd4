import { Router } from 'express'

/** What a service lacks, by part, in words that may be public. Empty when it is ready. */
export type Readiness = () => Promise<{ sidecar?: string; store?: string; stream?: string }>

/** A record that cannot be handled for now, and is delivered again and again. */
export interface Redelivered {
  topic: string
  partition: number
  offset: string
  deliveries: number
}

/**
 * `GET /healthz` is 200 as long as the process answers; `GET /readyz` is 503 while requests or events would wait. It also lists the records
 * that are delivered again and again. Anybody may ask, as often as they like, so those who ask at the same time share one answer.
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
