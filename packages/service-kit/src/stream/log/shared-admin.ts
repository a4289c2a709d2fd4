import { appendTimes, createSharedAdmin, type RecordPosition, type StreamSettings } from '@orderflow/kafka-log'
import { timeLimit } from '../../limits.ts'

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
