import { type Place, placeText } from './place.ts'

/** A record that is delivered again and again. The offset is a decimal string. */
export interface Redelivered extends Place {
  deliveries: number
}

/** A record is worth a person's attention after this many deliveries. The sidecar delivers once a second (components/resiliency.yaml). */
export const manyDeliveries = 10

/** A record that was not delivered for this long is handled by another replica, or was. */
const forgottenAfterMs = 60_000

/** Counts how often the records of a topic are delivered that cannot be handled for now. */
export interface Redeliveries {
  /** Counts a delivery that will come again. Returns how many there were. */
  failed(position: Place): number
  /** Forgets a record that was handled, or became a dead letter. */
  ended(position: Place): void
  /** Returns the record of each partition that was delivered most often. */
  worst(): Redelivered[]
}

export function createRedeliveries(now: () => Date): Redeliveries {
  const counts = new Map<string, { position: Place; deliveries: number; at: number }>()

  function forgetOld(): void {
    const oldest = now().getTime() - forgottenAfterMs
    for (const [key, { at }] of counts) if (at < oldest) counts.delete(key)
  }

  return {
    failed(position) {
      const key = placeText(position)
      const deliveries = (counts.get(key)?.deliveries ?? 0) + 1
      counts.set(key, { position, deliveries, at: now().getTime() })
      return deliveries
    },
    ended(position) {
      // Nearly always empty: then nothing is to be looked up.
      if (counts.size > 0) counts.delete(placeText(position))
    },
    worst() {
      forgetOld()
      const worst = new Map<number, Redelivered>()
      for (const { position, deliveries } of counts.values()) {
        if (deliveries > (worst.get(position.partition)?.deliveries ?? 0)) {
          worst.set(position.partition, { ...position, deliveries })
        }
      }
      return [...worst.values()]
    },
  }
}
