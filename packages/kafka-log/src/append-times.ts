import type { Admin } from '@platformatic/kafka'
import { fetchFrom, partitionKey, partitionsOf, requireReadable } from './partitions.ts'
import { extentsOf } from './positions.ts'
import { positionText, type RecordPosition, whereIs } from './record.ts'

/**
 * Returns the times at which the broker appended records, by position, in milliseconds since 1970. It leaves out deleted records, and records whose
 * time the publisher set (`message.timestamp.type=CreateTime`). Sidecars do not report whether the broker set a time (Dapr 1.18).
 */
export async function appendTimes(admin: Admin, positions: readonly RecordPosition[]): Promise<Map<string, number>> {
  const { led } = await partitionsOf(admin, [...new Set(positions.map(({ topic }) => topic))])
  const times = new Map<string, number>()
  for (const [key, own] of Map.groupBy(positions, partitionKey)) {
    const partition = led.find((each) => partitionKey(each) === key)
    if (!partition) throw new Error(`partition ${key} has no leader`)
    const waiting = new Set(
      own.toSorted((one, other) => Number(BigInt(one.offset) - BigInt(other.offset))).map(positionText),
    )
    for (const text of waiting) {
      const next = BigInt(text.slice(key.length + 1))
      // With a limit of one byte, the broker returns only the batch that contains the record.
      const { values } = requireReadable(await fetchFrom(admin, [{ ...partition, next }], { bytes: 1 }))
      for (const record of values.get(key)?.records ?? []) {
        if (waiting.delete(whereIs(record)) && !Number.isNaN(record.appendedAt))
          times.set(whereIs(record), record.appendedAt)
      }
    }
  }
  return times
}

/**
 * Returns the time at which the broker appended the newest record of a topic, in milliseconds since 1970. Returns undefined if the topic has no record,
 * or if publishers set the times of its records.
 */
export async function newestAppendTime(admin: Admin, topic: string): Promise<number | undefined> {
  const filled = (await extentsOf(admin, [topic])).filter(({ start, end }) => end > start)
  // With a limit of one byte, the broker returns the batch of only one partition.
  const fetched = await Promise.all(
    filled.map((extent) => fetchFrom(admin, [{ ...extent, next: extent.end - 1n }], { bytes: 1 })),
  )
  const found = fetched.flatMap((answers) => [...requireReadable(answers).values.values()])
  const times = found.flatMap(({ records }) => records.map(({ appendedAt }) => appendedAt))
  const newest = times.reduce((latest, time) => Math.max(latest, time), Number.NEGATIVE_INFINITY)
  return Number.isFinite(newest) ? newest : undefined
}
