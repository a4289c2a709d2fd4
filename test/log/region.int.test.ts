import { positionsOf, withAdmin } from '@orderflow/kafka-log'
import { kafkaOf, makeActive, makePassive, type Plan, releaseFolder } from '@orderflow/stack/internals'
import { consumedTopics, topics } from '@orderflow/stack/operate'
import { Consumer, Producer } from '@platformatic/kafka'
import { expect } from 'chai'
import { startKafka } from '../support/kafka/own-kafka.ts'

const minute = 60_000
const [topic, partition] = ['orderevents', 0]
const specs = topics.processes

describe('the Kafka of another region', () => {
  let plan: Plan
  before(async function () {
    this.timeout(0)
    plan = await startKafka('region')
  })
  after(() => plan && releaseFolder(plan.folder))

  const timeSettings = () =>
    withAdmin(kafkaOf(plan), async (admin) => {
      const resources = specs.map(({ name }) => ({
        ...{ resourceType: 2 as const, resourceName: name, configurationKeys: ['message.timestamp.type'] },
      }))
      const found = await admin.describeConfigs({ resources })
      return new Set(
        found.filter(({ resourceName }) => !resourceName.endsWith('.dead')).map((one) => one.configs[0]?.value),
      )
    })

  const commit = (groupId: string, offset: bigint) =>
    withAdmin(kafkaOf(plan), (admin) =>
      admin.alterConsumerGroupOffsets({
        groupId,
        topics: [{ name: topic, partitionOffsets: [{ partition, offset }] }],
      }),
    )

  const positions = async () => {
    const found = await withAdmin(kafkaOf(plan), (admin) => positionsOf(admin, consumedTopics))
    const own = found.filter((each) => each.topic === topic && each.partition === partition)
    return Object.fromEntries(own.map(({ group, next }) => [group, Number(next)]))
  }

  it('keeps the times of copied records while it is passive', async () => {
    expect(await makePassive(kafkaOf(plan), specs)).to.deep.equal([])
    expect([...(await timeSettings())]).to.deep.equal(['CreateTime'])
  })

  it('moves groups back by the given time, but keeps earlier positions, when it becomes active', async () => {
    const now = Date.now()
    const ages = [60, 30, 9, 5, 0]
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...kafkaOf(plan) })
    const messages = ages.map((age) => ({
      ...{ topic, partition, value: Buffer.from(String(age)), timestamp: BigInt(now - age * minute) },
    }))
    await producer.send({ messages, acks: -1 })
    await producer.close()
    await commit('payment-service', 5n)
    await commit('order-service', 1n)
    await makeActive(kafkaOf(plan), specs, 10 * minute)
    expect(await positions()).to.deep.equal({ 'payment-service': 2, 'order-service': 1 })
    expect([...(await timeSettings())]).to.deep.equal(['LogAppendTime'])
  })

  it('counts from the last record of each partition, although a clock was ahead', async () => {
    expect(await makePassive(kafkaOf(plan), specs)).to.deep.equal([])
    const now = Date.now()
    const producer = new Producer<Buffer, Buffer, Buffer, Buffer>({ clientId: 'test', ...kafkaOf(plan) })
    const at = async (name: string, ages: number[]) => {
      const messages = ages.map((age) => ({
        ...{ topic: name, partition, value: Buffer.from(String(age)), timestamp: BigInt(now - age * minute) },
      }))
      await producer.send({ messages, acks: -1 })
    }
    // An idle partition ends with a time that is two days ahead. In the busy one, the clock was corrected.
    await at('paymentevents', [-2 * 24 * 60])
    await at(topic, [-60, 12, 11, 8, 7])
    await producer.close()
    await commit('payment-service', 10n)
    await makeActive(kafkaOf(plan), specs, 2 * minute)
    // Offset 3 is the first record of the last 9 minutes. The clock was ahead at offset 5.
    expect(await positions()).to.include({ 'payment-service': 3 })
  })

  it('refuses both changes while a service runs', async () => {
    const consumer = new Consumer({ clientId: 'test', groupId: 'order-service', ...kafkaOf(plan) })
    const stream = await consumer.consume({ topics: [topic], autocommit: false })
    try {
      for (const change of [makePassive(kafkaOf(plan), specs), makeActive(kafkaOf(plan), specs, minute)]) {
        const refusal = await change.catch((error: Error & { code?: string }) => error)
        expect(refusal).to.have.property('code', 'still-running')
      }
    } finally {
      await stream.close()
      await consumer.close(true)
    }
  })
})
