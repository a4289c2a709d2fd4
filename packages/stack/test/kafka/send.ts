import { type OutgoingRecord, openPublisher, type PublishedPosition } from '@orderflow/envelope/kafka'
import type { KafkaConnection } from '@orderflow/kafka-log'

export async function send(kafka: KafkaConnection, record: OutgoingRecord): Promise<PublishedPosition> {
  const publisher = await openPublisher(kafka, 'orderflow-test')
  try {
    const [position] = await publisher.send([record])
    return position as PublishedPosition
  } finally {
    await publisher.close()
  }
}
