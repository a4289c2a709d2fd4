import { setTimeout as delay } from 'node:timers/promises'
import {
  ensureTopics,
  entryOf,
  eventually,
  type KafkaConnection,
  kafkaMissing,
  localKafka,
  type Plan,
  prepareKafka,
  processSpecs,
  startProcess,
  topics,
  withAdmin,
  withRetries,
} from '@orderflow/cli'
import { ListOffsetTimestamps, Producer } from '@platformatic/kafka'

type Message = { topic: string; partition: number; key?: Buffer; value: Buffer }

/** Lets anybody begin a transaction, and compacts without waiting for its usual fifteen seconds. */
const overrides = ['authorizer.class.name=', 'log.cleaner.backoff.ms=50']

/** Starts a broker that takes transactions, as a Kafka that others administer may do. */
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

/** What a test does to the log of a broker. Records go to one partition. */
export function logWriter(kafka: KafkaConnection) {
  const newProducer = (transactionalId?: string) =>
    new Producer<Buffer, Buffer, Buffer, Buffer>({
      clientId: 'log-writer',
      ...kafka,
      // A transaction can begin once the marker of the one before is written.
      ...(transactionalId && { idempotent: true, transactionalId, retries: 1_000, retryDelay: 1 }),
    })
  const messagesOf = (topic: string, partition: number, values: string[]): Message[] =>
    values.map((value) => ({ topic, partition, key: Buffer.from(value.slice(0, 8)), value: Buffer.from(value) }))

  const create = (topic: string, partitions: number, configs: Record<string, string> = {}) =>
    ensureTopics(kafka, [{ name: topic, partitions, consumerGroups: [], configs }])

  async function endOf(topic: string, partition: number): Promise<bigint> {
    const [answer] = await withAdmin(kafka, (admin) =>
      admin.listOffsets({
        topics: [
          {
            name: topic,
            partitions: [{ partitionIndex: partition, timestamp: ListOffsetTimestamps.LATEST }],
          },
        ],
      }),
    )
    return answer?.partitions[0]?.offset ?? 0n
  }

  async function publish(topic: string, partition: number, ...values: string[]): Promise<void> {
    const producer = newProducer()
    await producer.send({ messages: messagesOf(topic, partition, values), acks: -1 })
    await producer.close()
  }

  return {
    publish,
    endOf,

    /** Publishes the values in a transaction: its marker takes the offset behind them. */
    async transact(ending: 'commit' | 'abort', topic: string, partition: number, ...values: string[]): Promise<void> {
      const producer = newProducer(`${topic}-${partition}`)
      const transaction = await producer.beginTransaction()
      await transaction.send({ messages: messagesOf(topic, partition, values) })
      const end = await endOf(topic, partition)
      await transaction[ending]()
      await producer.close()
      // The broker answers before it has written the marker.
      await eventually(async () => (await endOf(topic, partition)) > end, 'the marker')
    },

    /** Deletes the records of a partition below an offset. */
    deleteBelow: (topic: string, partition: number, offset: bigint) =>
      withAdmin(kafka, (admin) =>
        admin.deleteRecords({ topics: [{ name: topic, partitions: [{ partition, offset }] }] }),
      ),

    create,

    /**
     * Creates a topic of one partition, writes the same key again and again, another one at last, and has it compacted: two records are
     * left at the end.
     */
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
      // A record of another segment: the last segment is not compacted.
      await delay(200)
      await publish(topic, 0, 'other')
    },

    /** Commits the offset at which a consumer group goes on. */
    async commit(groupId: string, topic: string, partition: number, offset: bigint): Promise<void> {
      const topics = [{ name: topic, partitionOffsets: [{ partition, offset }] }]
      const commit = () => withAdmin(kafka, (admin) => admin.alterConsumerGroupOffsets({ groupId, topics }))
      // The first group of all makes the broker look after groups, which takes a moment.
      await withRetries('groups', commit, 50)
    },
  }
}
