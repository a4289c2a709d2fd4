import { setTimeout as delay } from 'node:timers/promises'
import { extentsOf, withAdmin } from '@orderflow/kafka-log'
import { entryOf, type KafkaConnection, kafkaMissing } from '@orderflow/stack'
import { eventually, withRetries } from '@orderflow/stack/base'
import {
  ensureTopics,
  localKafka,
  type Plan,
  prepareKafka,
  processSpecs,
  startProcess,
} from '@orderflow/stack/internals'
import { topics } from '@orderflow/stack/operate'
import { Producer } from '@platformatic/kafka'

type Message = { topic: string; partition: number; key?: Buffer; value: Buffer }

/** Allows all users to begin transactions, and compacts without the usual wait of fifteen seconds. */
const overrides = ['authorizer.class.name=', 'log.cleaner.backoff.ms=50']

/** Starts a broker that accepts transactions, as a Kafka of another administrator may. */
export async function startOpenBroker(plan: Plan): Promise<KafkaConnection> {
  await prepareKafka(plan)
  const broker = entryOf(processSpecs(plan), 'kafka')
  const more = overrides.flatMap((setting) => ['--override', setting])
  startProcess(plan.folder, { ...broker, args: [...broker.args, ...more] })
  const kafka = localKafka(plan.ports.kafka)
  await eventually(async () => (await kafkaMissing(kafka)) === undefined, 'the broker')
  await ensureTopics(kafka, topics.processes)
  return kafka
}

export function logWriter(kafka: KafkaConnection) {
  const newProducer = (transactionalId?: string) =>
    new Producer<Buffer, Buffer, Buffer, Buffer>({
      clientId: 'log-writer',
      ...kafka,
      // A transaction can begin only after the marker of the previous one is written.
      ...(transactionalId && { idempotent: true, transactionalId, retries: 1_000, retryDelay: 1 }),
    })
  const messagesOf = (topic: string, partition: number, values: string[]): Message[] =>
    values.map((value) => ({ topic, partition, key: Buffer.from(value.slice(0, 8)), value: Buffer.from(value) }))

  const create = (topic: string, partitions: number, configs: Record<string, string> = {}) =>
    ensureTopics(kafka, [{ name: topic, partitions, consumerGroups: [], configs }])

  async function endOf(topic: string, partition: number): Promise<bigint> {
    const extents = await withAdmin(kafka, (admin) => extentsOf(admin, [topic]))
    return extents[partition]?.end ?? 0n
  }

  async function publish(topic: string, partition: number, ...values: string[]): Promise<void> {
    const producer = newProducer()
    await producer.send({ messages: messagesOf(topic, partition, values), acks: -1 })
    await producer.close()
  }

  return {
    publish,
    endOf,

    /** Publishes the values in a transaction. Its marker has the offset after the last value. */
    async transact(ending: 'commit' | 'abort', topic: string, partition: number, ...values: string[]): Promise<void> {
      const producer = newProducer(`${topic}-${partition}`)
      const transaction = await producer.beginTransaction()
      await transaction.send({ messages: messagesOf(topic, partition, values) })
      const end = await endOf(topic, partition)
      await transaction[ending]()
      await producer.close()
      // The broker answers before it writes the marker.
      await eventually(async () => (await endOf(topic, partition)) > end, 'the marker')
    },

    deleteBelow: (topic: string, partition: number, offset: bigint) =>
      withAdmin(kafka, (admin) =>
        admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition, offset }] }] }),
      ),

    create,

    /** Creates a topic, writes the same key many times and then another key, and compacts the topic to two records. */
    async compact(topic: string, count: number, transactionalId?: string): Promise<void> {
      await create(topic, 1, { 'cleanup.policy': 'compact', 'segment.ms': '100', 'min.cleanable.dirty.ratio': '0.001' })
      const producer = newProducer(transactionalId)
      for (let written = 0; written < count; written += 1) {
        const messages = [{ topic, partition: 0, key: Buffer.from('same'), value: Buffer.from('same') }]
        const transaction = transactionalId ? await producer.beginTransaction() : undefined
        await (transaction ?? producer).send({ messages })
        await transaction?.commit()
      }
      await producer.close()
      // Kafka does not compact the newest segment. After this delay, the record `other` begins a new segment.
      await delay(200)
      await publish(topic, 0, 'other')
    },

    async commit(groupId: string, topic: string, partition: number, offset: bigint): Promise<void> {
      const topics = [{ name: topic, partitionOffsets: [{ partition, offset }] }]
      const commit = () => withAdmin(kafka, (admin) => admin.alterConsumerGroupOffsets({ groupId, topics }))
      // The first group makes the broker create its topic for groups, which takes a moment.
      await withRetries('groups', commit, 50)
    },
  }
}
