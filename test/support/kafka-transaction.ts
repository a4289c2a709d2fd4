import { randomUUID } from 'node:crypto'
import type { KafkaConnection } from '@orderflow/cli'
import { Producer } from '@platformatic/kafka'

/** What becomes of a transaction: its producer aborts it, or goes away without a word. */
export type TransactionEnd = 'abort' | 'leave'

/** Publishes a record in a transaction of a producer of its own. Throws when Kafka refuses the transaction. */
export async function publishInTransaction(
  kafka: KafkaConnection,
  record: { topic: string; key?: Buffer; value: Buffer },
  end: TransactionEnd,
): Promise<void> {
  const transactionalId = `test-${randomUUID()}`
  // Where transactions are allowed, the first one of a broker waits until their topic is made.
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
