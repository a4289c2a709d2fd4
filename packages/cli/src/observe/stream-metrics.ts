import type { RequestListener } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { deadLetterTopic } from '@orderflow/envelope'
import type { KafkaConnection } from '@orderflow/service-kit/kafka'
import { metricSet } from '@orderflow/service-kit/metrics'
import { type Extent, extentsOf, type Position, positionsOf } from '../kafka/positions.ts'
import { consumedTopics, topics, withAdmin } from '../kafka/topics.ts'

const names = topics.processes.map(({ name }) => name)
const deadLetterTopics = names.filter((name) => names.map(deadLetterTopic).includes(name))

/** Less than a scrape may take (config.ts): a broker that hangs has taken the connection. */
const deadlineMs = 3_000

/** The state of the stream at a moment. */
interface Snapshot {
  at: number
  positions: Position[]
  /** The extents of the dead-letter topics. */
  extents: Extent[]
}

/**
 * Serves what neither services nor sidecars report: how far each consumer group is behind, for how long its oldest event has waited, and how many
 * records the topics of dead letters have. Kafka is asked at each scrape; of events, their positions and times are used.
 */
export function streamMetrics(kafka: KafkaConnection): RequestListener {
  const { gauge, listener } = metricSet()
  const up = gauge(
    'orderflow_kafka_up',
    'Whether Kafka told the exporter how things stand (1). All else of the exporter is missing when it did not.',
  )
  const lag = gauge(
    'orderflow_consumer_lag_events',
    'Events of a partition that a consumer group has still to handle: 0 only if none remains, an upper bound if many do. Sidecars commit once a second.',
    ['group', 'topic', 'partition'],
  )
  const oldest = gauge(
    'orderflow_oldest_unhandled_seconds',
    'For how long the oldest event that a consumer group has still to handle has been in the log; 0 without one.',
    ['group', 'topic'],
  )
  const deadLetters = gauge(
    'orderflow_dead_letter_records',
    'Records of a topic of dead letters, at most: dead letters, and notes that one was replayed.',
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
        const arrivals = own.map((position) => position.oldest ?? seen.at)
        const oldestAt = arrivals.reduce((least, at) => Math.min(least, at), seen.at)
        oldest.set({ group, topic }, (seen.at - oldestAt) / 1_000)
      }
    }
    for (const topic of deadLetterTopics) {
      const own = seen.extents.filter((extent) => extent.topic === topic)
      deadLetters.set(
        { topic },
        own.reduce((sum, { first, end }) => sum + Number(end - first), 0),
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
