import type { RequestListener } from 'node:http'
import { type OpenMetricsContentType, openMetricsContentType, Registry } from 'prom-client'

/** Metrics that are served together, in the text format of OpenMetrics 1.0. */
export type MetricsRegistry = Registry<OpenMetricsContentType>

export function createRegistry(): MetricsRegistry {
  const registry: MetricsRegistry = new Registry<OpenMetricsContentType>()
  registry.setContentType(openMetricsContentType)
  return registry
}

/**
 * Returns a listener for `GET /metrics`. It answers other requests with 404.
 * @param before runs before each scrape
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

/** Buckets in seconds for durations inside a service. Each bucket is a time series per combination of labels. */
export const durations = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]

/** Buckets in seconds from one event to another. Services, sidecars and the broker between them may be away for a while. */
export const delays = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600]

/** Buckets for numbers of items, up to the largest batch. */
export const sizes = [1, 5, 20, 50, 100, 200, 500]
