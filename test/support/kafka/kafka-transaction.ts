import { randomUUID } from 'node:crypto'
import type { KafkaConnection } from '@orderflow/stack'
import { Producer } from '@platformatic/kafka'

/** The end of a transaction: its producer aborts it, or disappears. */
export type TransactionEnd = 'abort' | 'leave'

/**
 * Publishes a record in a transaction of a new producer.
 * @throws {Error} if Kafka refuses the transaction
 */
export async function publishInTransaction(
  kafka: KafkaConnection,
  record: { topic: string; key?: Buffer; value: Buffer },
  end: TransactionEnd,
): Promise<void> {
  const transactionalId = `test-${randomUUID()}`
  // The first transaction of a broker waits until Kafka’s own topic for transactions exists.
  const waits = { retries: 10, retryDelay: 500 }
  const producer = new Producer({ clientId: transactionalId, ...kafka, ...waits, idempotent: true, transactionalId })
  try {
    const transaction = await producer.beginTransaction({})
    await transaction.send({ messages: [record] })
    if (end === 'abort') await transaction.abort()
  } finally {
    await producer.close()
  }
}
