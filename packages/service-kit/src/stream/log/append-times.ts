import type { Admin } from '@platformatic/kafka'
import { fetchBatches, metadataOf, type StreamSettings } from './kafka.ts'
import { positionText, type RecordPosition } from './record.ts'
import { createSharedAdmin } from './shared-admin.ts'

/**
 * Returns the times at which the broker appended records, by position, in milliseconds since 1970. It leaves out deleted records, and records whose
 * time the publisher set (`message.timestamp.type=CreateTime`).
 */
export type AppendTimes = (positions: readonly RecordPosition[]) => Promise<ReadonlyMap<string, number>>

/** The bit in a batch's attributes that is set if the broker set the time (Kafka protocol). */
export const logAppendTime = 1 << 3

/** Creates a function that asks Kafka itself for these times, because sidecars do not report whether the broker set a time (Dapr 1.18). */
export function createAppendTimes(settings: StreamSettings): AppendTimes {
  const use = createSharedAdmin(settings, 'orderflow-append-times', 3_000)
  return (positions) => use((admin) => appendTimes(admin, positions))
}

async function appendTimes(admin: Admin, positions: readonly RecordPosition[]): Promise<Map<string, number>> {
  const names = [...new Set(positions.map(({ topic }) => topic))]
  const metadata = await metadataOf(admin, names)
  const times = new Map<string, number>()
  for (const partition of Map.groupBy(positions, ({ topic, partition }) => `${topic}/${partition}`).values()) {
    const waiting = partition.toSorted((one, other) => Number(BigInt(one.offset) - BigInt(other.offset)))
    for (let next = waiting[0]; next; next = waiting[0]) {
      const { topic, partition, offset } = next
      // With a limit of one byte, the broker returns only the batch that contains the record.
      const found = await fetchBatches(admin, metadata, { topic, partition, offset: BigInt(offset), bytes: 1 })
      const [batch] = found === 'out-of-range' ? [] : found
      const last = batch ? batch.firstOffset + BigInt(batch.lastOffsetDelta) : BigInt(offset)
      const inBatch = waiting.filter((position) => BigInt(position.offset) <= last)
      waiting.splice(0, Math.max(1, inBatch.length))
      if (!batch || !(batch.attributes & logAppendTime)) continue
      for (const position of inBatch.filter((one) => BigInt(one.offset) >= batch.firstOffset)) {
        times.set(positionText(position), Number(batch.maxTimestamp))
      }
    }
  }
  return times
}
