import { setTimeout as delay } from 'node:timers/promises'
import {
  appendTimes,
  type KafkaConnection,
  newestAppendTime,
  type RecordPosition,
  withAdmin,
} from '@orderflow/kafka-log'
import { Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { localKafka } from '../../src/kafka/connection.ts'
import { ensureTopics } from '../../src/kafka/topics.ts'
import type { Plan } from '../../src/processes/plan.ts'

const [kept, chosen, empty] = ['times-of-the-broker', 'times-of-publishers', 'times-of-no-record']
const dayMs = 86_400_000

export function appendTimesOf(planned: () => Plan): void {
  describe('appendTimes', () => {
    let kafka: KafkaConnection
    before(async () => {
      kafka = localKafka(planned().ports.kafka)
      const specOf = (name: string, type: string) => ({
        ...{ name, partitions: 2, consumerGroups: [], configs: { 'message.timestamp.type': type } },
      })
      const timed = [specOf(kept, 'LogAppendTime'), specOf(empty, 'LogAppendTime')]
      await ensureTopics(kafka, [...timed, specOf(chosen, 'CreateTime')])
    })

    const lookUp = (asked: RecordPosition[]) => withAdmin(kafka, (admin) => appendTimes(admin, asked))

    /** Publishes two records in one batch with yesterday's time. */
    async function publish(topic: string, partition: number): Promise<void> {
      const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'backdating', ...kafka })
      const record = { topic, partition, value: Buffer.from('{}'), timestamp: BigInt(Date.now() - dayMs) }
      await producer.send({ messages: [record, record], acks: -1 })
      await producer.close()
    }
    const at = (topic: string, partition: number, offset: number) => ({ topic, partition, offset: String(offset) })

    it('returns the time of a record only if the record exists and the broker set its time', async () => {
      const before = Date.now()
      for (const partition of [0, 1]) {
        await publish(kept, partition)
        await publish(kept, partition)
      }
      await publish(chosen, 0)
      const asked = [
        at(kept, 1, 3),
        at(kept, 0, 0),
        at(chosen, 0, 0),
        at(chosen, 0, 1),
        at(kept, 0, 1),
        at(kept, 0, 2),
        at(kept, 0, 99),
      ]
      const times = await lookUp(asked)
      expect([...times.keys()].sort()).to.deep.equal([`${kept}/0/0`, `${kept}/0/1`, `${kept}/0/2`, `${kept}/1/3`])
      for (const time of times.values()) expect(time).to.be.within(before - 1_000, Date.now() + 1_000)
    })

    it('finds the newest time of a topic, if the broker set the times of its newest records', async () => {
      const newest = (topic: string) => withAdmin(kafka, (admin) => newestAppendTime(admin, topic))
      expect(await newest(empty)).to.equal(undefined)
      expect(await newest(chosen)).to.equal(undefined)
      const before = Date.now()
      await publish(kept, 0)
      expect(await newest(kept)).to.be.within(before - 1_000, Date.now() + 1_000)
      await delay(1_100)
      const later = Date.now()
      await publish(kept, 1)
      expect(await newest(kept)).to.be.within(later - 1_000, Date.now() + 1_000)
    })

    it('returns no time for records that arrived before the topic got the setting LogAppendTime', async () => {
      const { ConfigResourceTypes, IncrementalAlterConfigOperationTypes } = await import('@platformatic/kafka')
      const configs = [
        {
          name: 'message.timestamp.type',
          value: 'LogAppendTime',
          configOperation: IncrementalAlterConfigOperationTypes.SET,
        },
      ]
      const resources = [{ resourceType: ConfigResourceTypes.TOPIC, resourceName: chosen, configs }]
      await withAdmin(kafka, (admin) => admin.incrementalAlterConfigs({ resources }))
      await publish(chosen, 0)
      const times = await lookUp([at(chosen, 0, 1), at(chosen, 0, 2)])
      expect([...times.keys()]).to.deep.equal([`${chosen}/0/2`])
    })

    it('throws an error if the broker does not answer', async () => {
      const absent = withAdmin({ bootstrapBrokers: ['127.0.0.1:1'] }, (admin) => appendTimes(admin, [at(kept, 0, 0)]))
      expect(await absent.catch((error: unknown) => error)).to.be.instanceOf(Error)
    })
  })
}
