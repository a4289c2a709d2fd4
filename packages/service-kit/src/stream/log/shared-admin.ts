import {
  appendTimes,
  createSharedAdmin,
  positionsOf,
  type RecordPosition,
  type StreamSettings,
} from '@orderflow/kafka-log'
import { timeLimit } from '../../limits.ts'
import { retentionOf } from '../publishing/topic-settings.ts'

/** @param timeoutMs should be short, because a delivery or a failed event waits for the result */
export const shareAdmin = (settings: StreamSettings, clientId: string, timeoutMs: number) =>
  createSharedAdmin(settings, {
    clientId,
    connectTimeout: timeLimit(1_000),
    timeout: timeLimit(timeoutMs),
    requestTimeout: timeLimit(30_000),
  })

/** Returns the times at which the broker appended records, by position, in milliseconds since 1970; see `appendTimes`. */
export type AppendTimes = (positions: readonly RecordPosition[]) => Promise<ReadonlyMap<string, number>>

export function createAppendTimes(settings: StreamSettings): AppendTimes {
  const use = shareAdmin(settings, 'orderflow-append-times', 3_000)
  return (positions) => use((admin) => appendTimes(admin, positions))
}

/** Returns a function that returns the number of a topic's records that a consumer group has not handled. */
export function createLag(settings: StreamSettings, group: string, topic: string): () => Promise<number> {
  const use = shareAdmin(settings, 'orderflow-lag', 3_000)
  return () =>
    use(async (admin) => {
      const positions = await positionsOf(admin, new Map([[group, [topic]]]))
      return positions.reduce((sum, { lag }) => sum + lag, 0)
    })
}

/** Returns a function that returns the retention of topics in milliseconds; negative without a limit. It needs the right to read their settings. */
export function createRetention(settings: StreamSettings, topics: readonly string[]) {
  const use = shareAdmin(settings, 'orderflow-retention', 3_000)
  return (): Promise<Map<string, number>> => use((admin) => retentionOf(admin, topics))
}
