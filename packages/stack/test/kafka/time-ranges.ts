import { type KafkaConnection, openLog } from '@orderflow/kafka-log'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { localKafka } from '../../src/kafka/connection.ts'
import { ensureTopics } from '../../src/kafka/topics.ts'
import type { Plan } from '../../src/processes/plan.ts'

const topic = 'time-ranges'

export function timeRanges(planned: () => Plan): void {
  describe('the spans of a time range', () => {
    let kafka: KafkaConnection
    const now = Date.now()
    const ago = (minutes: number) => now - minutes * 60_000

    before(async () => {
      kafka = localKafka(planned().ports.kafka)
      const configs = { 'message.timestamp.type': 'CreateTime' }
      await ensureTopics(kafka, [{ name: topic, partitions: 3, consumerGroups: [], configs }])
      const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...kafka })
      // In partition 0, the clock was ahead at offset 2. Partition 2 is empty.
      for (const [partition, ages] of [
        [90, 80, 1, 70, 60, 50],
        [90, 55],
      ].entries()) {
        for (const age of ages) {
          const record = { topic, partition, value: Buffer.from(String(age)), timestamp: BigInt(ago(age)) }
          await producer.send({ messages: [record], acks: -1 })
        }
      }
      await producer.close()
    })

    it('end after the last record before the range’s end, although a clock was ahead for a while', async () => {
      const log = openLog(kafka)
      const spansOf = async (from: number | undefined, to: number | undefined) => {
        const range = { from: from ? new Date(ago(from)) : undefined, to: to ? new Date(ago(to)) : undefined }
        return (await log.spans(topic, range)).map(({ start, end }) => [Number(start), Number(end)])
      }
      try {
        expect(await spansOf(85, 55)).to.deep.equal([
          [1, 5],
          [1, 1],
          [0, 0],
        ])
        expect(await spansOf(undefined, 95)).to.deep.equal([
          [0, 0],
          [0, 0],
          [0, 0],
        ])
        expect(await spansOf(undefined, 0.5)).to.deep.equal([
          [0, 6],
          [0, 2],
          [0, 0],
        ])
      } finally {
        await log.close()
      }
    })
  })
}
