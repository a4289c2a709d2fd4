import { setTimeout as delay } from 'node:timers/promises'
import type { KafkaConnection } from '@orderflow/stack'
import { createProducer, type OutsideRecord } from '@orderflow/test-kit'

export interface OutsideProducer {
  /** Sends records until the broker has all of them. Returns false if the test ends before that. */
  send(records: OutsideRecord[]): Promise<boolean>
  failures(): number
  close(): Promise<void>
}

const pauseMs = 250

/** Creates a Kafka client that repeats unacknowledged records. */
export function createOutsideProducer(kafka: KafkaConnection, isOver: () => boolean): OutsideProducer {
  // Retries of the client would hide a quick restart of the broker.
  const create = () => createProducer({ ...kafka, retries: 0 })
  let producer = create()
  let failures = 0

  return {
    async send(records) {
      for (;;) {
        try {
          // biome-ignore lint/plugin/no-spread-arguments: these are at most 100 records
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
