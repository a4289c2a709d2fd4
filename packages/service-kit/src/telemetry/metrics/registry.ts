import type { RequestListener } from 'node:http'
import { type OpenMetricsContentType, openMetricsContentType, Registry } from 'prom-client'

/** Metrics that are told together, in the text format of OpenMetrics 1.0. */
export type MetricsRegistry = Registry<OpenMetricsContentType>

export function createRegistry(): MetricsRegistry {
  const registry: MetricsRegistry = new Registry<OpenMetricsContentType>()
  registry.setContentType(openMetricsContentType)
  return registry
}

/**
 * Answers `GET /metrics`, and 404 to all else.
 * @param before what is to be done for each scrape
 */
export function listenerOf(registry: MetricsRegistry, before: () => void | Promise<void>): RequestListener {
  return async ({ method, url }, response) => {
    if (method !== 'GET' || url !== '/metrics') return response.writeHead(404).end()
    try {
      await before()
      const text = await registry.metrics()
      response.writeHead(200, { 'content-type': registry.contentType }).end(text)
    } catch {
      response.writeHead(500).end()
    }
  }
}
