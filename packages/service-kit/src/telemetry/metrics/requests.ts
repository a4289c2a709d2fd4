import { Histogram } from 'prom-client'
import { durations } from './buckets.ts'
import { other } from './events.ts'
import type { MetricsRegistry } from './registry.ts'

export interface AnsweredRequest {
  /** Undefined when it was of none, whatever its path and method. The route is as OpenAPI writes it. */
  operation: { method: string; route: string } | undefined
  /** Undefined when the client left before it was answered. */
  status: number | undefined
  ms: number
}

/** Counts and times requests. The name is OpenTelemetry's, whose label for the status is a number: here the class of it is enough. */
export function requestMetrics(registry: MetricsRegistry): (request: AnsweredRequest) => void {
  const seconds = new Histogram({
    name: 'http_server_request_duration_seconds',
    help: 'Requests by operation and class of status, until their answer was sent. All that is no operation is other.',
    labelNames: ['method', 'route', 'status'],
    buckets: durations,
    registers: [registry],
  })
  return ({ operation = { method: other, route: other }, status, ms }) => {
    const answer = status === undefined ? 'aborted' : `${Math.floor(status / 100)}xx`
    seconds.observe({ ...operation, status: answer }, ms / 1_000)
  }
}
