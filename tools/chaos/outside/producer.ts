import { setTimeout as delay } from 'node:timers/promises'
import type { KafkaConnection } from '@orderflow/cli'
import { createProducer, type OutsideRecord } from '@orderflow/test-kit'

export interface OutsideProducer {
  /** Sends until the broker has all of the records, however often it fails; false when it was over before. */
  send(records: OutsideRecord[]): Promise<boolean>
  failures(): number
  close(): Promise<void>
}

const pauseMs = 250

/** A Kafka client that behaves well: what the broker did not acknowledge is sent again, and so may be there twice. */
export function createOutsideProducer(kafka: KafkaConnection, isOver: () => boolean): OutsideProducer {
  // Every failure is to be counted: a client that tries again by itself outlives a broker that starts quickly.
  const create = () => createProducer({ ...kafka, retries: 0 })
  let producer = create()
  let failures = 0

  return {
    async send(records) {
      for (;;) {
        try {
          // biome-ignore lint/plugin/no-spread-arguments: it takes at most 100 due records
          await producer.send(...records)
          return true
        } catch {
          failures += 1
          await producer.close().catch(() => {})
          producer = create()
        }
        if (isOver()) return false
        await delay(pauseMs)
      }
    },
    failures: () => failures,
    close: () => producer.close(),
  }
}
