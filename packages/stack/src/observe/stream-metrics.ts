import type { RequestListener } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { deadLetterTopic } from '@orderflow/envelope'
import {
  type Extent,
  extentsOf,
  type KafkaConnection,
  type Position,
  positionsOf,
  withAdmin,
} from '@orderflow/kafka-log'
import { metricSet } from '@orderflow/service-kit/operations'
import { consumedTopics, eventTopics } from '../kafka/topics.ts'

const deadLetterTopics = eventTopics.filter((name) => eventTopics.map(deadLetterTopic).includes(name))

/** The longest wait for Kafka, in milliseconds. It is shorter than the timeout of a scrape (config.ts). */
const deadlineMs = 3_000

interface Snapshot {
  at: number
  positions: Position[]
  extents: Extent[]
}

/** Serves metrics: the lag and the age of the oldest unhandled event for each consumer group, and the number of dead letters. */
export function streamMetrics(kafka: KafkaConnection): RequestListener {
  const { gauge, listener } = metricSet()
  const up = gauge(
    'orderflow_kafka_up',
    '1 if Kafka answered the exporter, otherwise 0. Without an answer the other metrics of the exporter are missing.',
  )
  const lag = gauge(
    'orderflow_consumer_lag_events',
    'Unhandled events of a partition in a consumer group. 0 is exact; a large number is an upper bound. Sidecars commit once a second.',
    ['group', 'topic', 'partition'],
  )
  const oldest = gauge(
    'orderflow_oldest_unhandled_seconds',
    'The time since the oldest unhandled event of a consumer group reached the log; 0 without such an event.',
    ['group', 'topic'],
  )
  const deadLetters = gauge(
    'orderflow_dead_letter_records',
    'The largest possible number of records in a dead-letter topic: dead letters, and notes about replayed ones.',
    ['topic'],
  )

  return listener(async () => {
    for (const each of [lag, oldest, deadLetters]) each.reset()
    const late = delay(deadlineMs, undefined, { ref: false })
    const seen = await Promise.race([readSnapshot(kafka), late]).catch(() => undefined)
    up.set(seen ? 1 : 0)
    if (!seen) return
    for (const position of seen.positions) {
      const { group, topic, partition } = position
      lag.set({ group, topic, partition }, position.lag)
    }
    for (const [group, all] of consumedTopics) {
      for (const topic of all) {
        const own = seen.positions.filter((position) => position.group === group && position.topic === topic)
        const oldestAt = own.reduce((least, { oldest: at = seen.at }) => Math.min(least, at), seen.at)
        oldest.set({ group, topic }, (seen.at - oldestAt) / 1_000)
      }
    }
    for (const topic of deadLetterTopics) {
      const own = seen.extents.filter((extent) => extent.topic === topic)
      deadLetters.set(
        { topic },
        own.reduce((sum, { start, end }) => sum + Number(end - start), 0),
      )
    }
  })
}

function readSnapshot(kafka: KafkaConnection): Promise<Snapshot> {
  return withAdmin(kafka, async (admin) => {
    const extents = await extentsOf(admin, deadLetterTopics)
    const positions = await positionsOf(admin, consumedTopics)
    return { at: Date.now(), positions, extents }
  })
}
