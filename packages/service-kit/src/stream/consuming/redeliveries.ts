import { positionText, type RecordPosition } from '@orderflow/kafka-log'

export interface Redelivered extends RecordPosition {
  deliveries: number
}

/**
 * The time after which the count of a record's deliveries is deleted. If the record is not delivered in this time, another replica has received it.
 */
const forgottenAfterMs = 60_000

export function createRedeliveries(now: () => Date) {
  const counts = new Map<string, { position: RecordPosition; deliveries: number; at: number }>()

  return {
    failed(position: RecordPosition): number {
      const key = positionText(position)
      const deliveries = (counts.get(key)?.deliveries ?? 0) + 1
      counts.set(key, { position, deliveries, at: now().getTime() })
      return deliveries
    },
    ended(position: RecordPosition): void {
      // The check is faster than creating the key, and the map is nearly always empty.
      if (counts.size > 0) counts.delete(positionText(position))
    },
    /** Returns, for each partition, the record with the most failed deliveries. */
    worst(): Redelivered[] {
      const oldest = now().getTime() - forgottenAfterMs
      for (const [key, { at }] of counts) if (at < oldest) counts.delete(key)
      const worst = new Map<number, Redelivered>()
      for (const { position, deliveries } of counts.values()) {
        if (deliveries > (worst.get(position.partition)?.deliveries ?? 0))
          worst.set(position.partition, { ...position, deliveries })
      }
      return [...worst.values()]
    },
  }
}
