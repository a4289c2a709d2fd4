import { statSync } from 'node:fs'
import type { Route } from '@orderflow/service-kit'
import type { HealthView } from '../api/system.ts'
import type { Monitor } from '../monitor.ts'
import { answer } from './answer.ts'

export function healthRoutes({ index, seen, latencies, views, services, now }: Monitor): Route[] {
  return [
    answer({
      path: '/v1/health',
      summary: 'See how the system is',
      input: {},
      handle(): HealthView {
        const found = seen()
        const state = index.state()
        const complete = index.truth()
        return {
          at: found?.at ?? now().toISOString(),
          kafka: found?.kafka ?? { isUp: false, brokers: [], error: state.error },
          services:
            found?.services ??
            services.map(({ name, url }) => ({
              name,
              url,
              state: 'unreachable',
              reason: 'not asked yet',
              sidecar: 'unknown',
            })),
          groups: found?.groups ?? [],
          topics: found?.topics ?? [],
          latency: latencies.view(now().getTime()),
          index: {
            events: complete.kept,
            segments: state.segments.length,
            bytesOnDisk: state.segments.reduce((sum, { file }) => sum + sizeOf(file), 0),
            memoryBytes: process.memoryUsage.rss(),
            perSecond: state.perSecond,
            liveRowsDropped: views.dropped(),
          },
          complete,
        }
      },
    }),
  ]
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
