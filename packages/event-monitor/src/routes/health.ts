import { statSync } from 'node:fs'
import type { Route } from '@orderflow/service-kit'
import type { HealthView } from '../api/system.ts'
import type { Monitor } from '../monitor.ts'
import { answer } from './answer.ts'

export function healthRoutes({ index, see, latencies, views, now }: Monitor): Route[] {
  return [
    answer({
      path: '/v1/health',
      summary: 'See how the system is',
      input: {},
      async handle(): Promise<HealthView> {
        const seen = await see()
        const state = index.state()
        const complete = index.truth()
        return {
          ...seen,
          latency: latencies.view(now().getTime()),
          index: {
            events: complete.kept,
            segments: state.segments.length,
            bytesOnDisk: state.segments.reduce((sum, { file }) => sum + sizeOf(file), 0),
            memoryBytes: process.memoryUsage.rss(),
            perSecond: state.perSecond,
            liveRowsDropped: views.dropped(),
            error: state.error,
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
