import { type Admin, kGetApi, kGetBootstrapConnection, kGetConnection } from '@platformatic/kafka'

type Done<T> = (error: Error | null, answer?: T) => void

type OffsetsAsked = { name: string; partitions: { partitionIndex: number; timestamp: bigint }[] }[]
type FetchAsked = { topicId: string; partitions: { partition: number; fetchOffset: bigint }[] }[]

interface FakePartition {
  topic: string
  partition: number
  /** Undefined for a partition without a leader, which only broker 2 has. */
  leader: number | undefined
  topicId: string
  start: bigint
  /** The timestamps of the records from `start` on. */
  times: number[]
  /** The code of an error that the leader answers. */
  error?: number
  /** The code of an error that it answers only to a Fetch. */
  fetchError?: number
}

/** A cluster in memory, which answers the requests of a client. Brokers answer Fetch by topic names (version 12). */
export class FakeCluster {
  readonly partitions: FakePartition[] = []
  readonly down = new Set<number>()
  /** The errors of topics in the metadata. */
  readonly topicErrors = new Map<string, number>()
  readonly requests: string[] = []

  add(topic: string, partition: number, times: number[], changes: Partial<FakePartition> = {}): FakePartition {
    const added = { ...{ topic, partition, times, leader: 1, topicId: topic, start: 0n }, ...changes }
    this.partitions.push(added)
    return added
  }

  readonly admin = {
    [kGetApi]: (name: string, done: Done<unknown>) =>
      done(null, {
        version: 12,
        async: async (broker: number, ...fields: unknown[]) => this.#answer(name, broker, fields),
      }),
    [kGetBootstrapConnection]: (done: Done<number>) => done(null, 0),
    [kGetConnection]: ({ nodeId }: { nodeId: number }, done: Done<number>) => done(null, nodeId),
    close: async () => {},
  } as unknown as Admin

  #answer(name: string, broker: number, fields: unknown[]): unknown {
    this.requests.push(name)
    if (this.down.has(broker)) throw new Error('connect ECONNREFUSED')
    if (name === 'Metadata') return this.#metadata(fields[0] as string[] | null)
    return name === 'ListOffsets' ? this.#offsets(fields[2] as OffsetsAsked) : this.#fetch(fields[6] as FetchAsked)
  }

  #metadata(asked: string[] | null) {
    const names = asked ?? [...new Set(this.partitions.map(({ topic }) => topic))]
    const topics = names.map((name) => {
      const own = this.partitions.filter(({ topic }) => topic === name)
      return {
        ...{ name, topicId: own[0]?.topicId, errorCode: this.topicErrors.get(name) ?? (own.length === 0 ? 3 : 0) },
        partitions: own.map(({ partition: partitionIndex, leader: leaderId = -1 }) => ({
          ...{ partitionIndex, errorCode: 0, leaderId, replicaNodes: [2], isrNodes: [2] },
        })),
      }
    })
    const brokers = [1, 2].map((nodeId) => ({ nodeId, host: 'kafka', port: nodeId, rack: null }))
    return { brokers, controllerId: 1, topics }
  }

  #in(topic: string, index: number): FakePartition {
    const found = this.partitions.find((each) => each.topic === topic && each.partition === index)
    if (!found) throw new Error(`${topic}/${index} is missing`)
    return found
  }

  #offsets(topics: OffsetsAsked) {
    return {
      topics: topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex, timestamp }) => {
          const { start, times, error: errorCode = 0 } = this.#in(name, partitionIndex)
          const index = times.findIndex((time) => BigInt(time) >= timestamp)
          const since = index < 0 ? -1n : start + BigInt(index)
          const offset = timestamp === -2n ? start : timestamp === -1n ? start + BigInt(times.length) : since
          return { partitionIndex, errorCode, offset }
        }),
      })),
    }
  }

  #fetch(topics: FetchAsked) {
    return {
      errorCode: 0,
      responses: topics.map(({ topicId, partitions }) => ({
        topicId,
        partitions: partitions.map(({ partition, fetchOffset }) => {
          const { start, times, error = 0, fetchError = error } = this.#in(topicId, partition)
          const end = start + BigInt(times.length)
          const errorCode = fetchOffset < start || fetchOffset > end ? 1 : fetchError
          // Each batch has two records.
          const first = fetchOffset - ((fetchOffset - start) % 2n)
          const found = times.slice(Number(first - start), Number(first - start) + 2)
          const records = found.map((time, offsetDelta) => ({
            ...{ offsetDelta, timestampDelta: BigInt(time), key: null, headers: [] },
            value: Buffer.from(String(first + BigInt(offsetDelta))),
          }))
          const batch = {
            ...{ attributes: 0, firstOffset: first, lastOffsetDelta: found.length - 1, length: 100, records },
            ...{ firstTimestamp: 0n, maxTimestamp: 0n },
          }
          const isEmpty = errorCode !== 0 || found.length === 0
          return { partitionIndex: partition, errorCode, highWatermark: end, records: isEmpty ? null : [batch] }
        }),
      })),
    }
  }
}
