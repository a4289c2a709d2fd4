import { createBatcher, type Settled } from './batcher.ts'
import type { OutgoingEvent, Sidecar } from './sidecar.ts'

/** Publishes one event; resolves when the broker has it. A failure leaves open whether the event is out. */
export type Publish = (event: OutgoingEvent) => Promise<void>

const limits = { maxItems: 500, maxBytes: 2 * 1024 * 1024, maxWaiting: 10_000 }

/** A publisher whose concurrent callers share bulk publishes, in the order of their calls. */
export function createPublisher(sidecar: Sidecar): Publish {
  async function flush(events: OutgoingEvent[]): Promise<Settled<void>[]> {
    const outcome = new Map<OutgoingEvent, Settled<void>>()
    for (const [topic, some] of Map.groupBy(events, (event) => event.topic)) {
      const result = await sidecar.publish(topic, some).then(
        (): Settled<void> => ({ ok: true, value: undefined }),
        (error: unknown): Settled<void> => ({ ok: false, error }),
      )
      for (const event of some) outcome.set(event, result)
    }
    return events.map((event) => outcome.get(event) as Settled<void>)
  }
  return createBatcher({ flush, sizeOf: (event) => event.value.byteLength, ...limits })
}
