import type { Admin, Broker, RecordsBatch } from '@platformatic/kafka'
import { requestAt } from './kafka-request.ts'

/** Where to read, and at least how many bytes. A batch that is larger comes whole (KIP-74). */
export interface Fetch {
  topic: string
  topicId: string
  partition: number
  offset: bigint
  bytes: number
}

/** Outside a fetch session (KIP-227), which would need a client of its own for each reader. */
const noSession = { id: 0, epoch: -1 }
/** As sidecars read: with records of transactions that are open, or were aborted. */
const uncommitted = 0

/**
 * Returns the next batches of a partition, at least one if there is one; or that the log has no such offset.
 * Takes the right to read the topic.
 * @throws what the client throws
 */
export async function fetchBatches(
  admin: Admin,
  leader: Broker,
  { topic, topicId, partition, offset, bytes }: Fetch,
): Promise<RecordsBatch[] | 'out-of-range'> {
  const { findErrorBy } = await import('@platformatic/kafka')
  const asked = {
    partition,
    fetchOffset: offset,
    currentLeaderEpoch: -1,
    lastFetchedEpoch: -1,
    partitionMaxBytes: bytes,
  }
  try {
    const { responses } = await requestAt<FetchResponse>(admin, leader, 'Fetch', (version) => [
      ...[0, 1, bytes, uncommitted, noSession.id, noSession.epoch],
      // Topics have names up to version 12, and ids from then on.
      [{ topicId: version > 12 ? topicId : topic, partitions: [asked] }],
      ...[[], ''],
    ])
    return responses.flatMap(({ partitions }) => partitions.flatMap(({ records }) => records ?? []))
  } catch (error) {
    if (findErrorBy(error as Error, 'apiId', 'OFFSET_OUT_OF_RANGE')) return 'out-of-range'
    throw error
  }
}

interface FetchResponse {
  responses: { partitions: { records: RecordsBatch[] | null }[] }[]
}
