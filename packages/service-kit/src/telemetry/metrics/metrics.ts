import type { RequestListener } from 'node:http'
import { collectDefaultMetrics, Gauge } from 'prom-client'
import { eventMetrics } from './events.ts'
import { queueMetrics } from './queues.ts'
import { createRegistry, listenerOf } from './registry.ts'
import { type AnsweredRequest, requestMetrics } from './requests.ts'

/** What a service counts and times of itself, for whoever scrapes it. */
export interface Metrics {
  request: (request: AnsweredRequest) => void
  /** @param reasons of its dead letters, as far as they are known */
  topic: ReturnType<typeof eventMetrics>
  queue: ReturnType<typeof queueMetrics>
  /** Asked for with each scrape: what is missing of the parts. */
  readiness: (parts: readonly string[], ask: () => Promise<object>) => void
  /** Answers `GET /metrics` in the OpenMetrics text format, and 404 to all else. */
  listener: RequestListener
}

/** What is only asked of the process when somebody scrapes costs nothing where nobody does. */
export function createMetrics(): Metrics {
  const registry = createRegistry()
  let isScraped = false
  return {
    request: requestMetrics(registry),
    topic: eventMetrics(registry),
    queue: queueMetrics(registry),
    readiness(parts, ask) {
      new Gauge({
        name: 'orderflow_ready',
        help: 'Whether a part that the service needs is ready (1), as its /readyz says.',
        labelNames: ['part'],
        registers: [registry],
        async collect() {
          const missing = await ask()
          for (const part of parts) this.set({ part }, part in missing ? 0 : 1)
        },
      })
    },
    listener: listenerOf(registry, () => {
      // A timer watches the event loop from now on.
      if (!isScraped) collectDefaultMetrics({ register: registry })
      isScraped = true
    }),
  }
}
