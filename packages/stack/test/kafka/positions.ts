import { extentsOf, positionsOf, withAdmin } from '@orderflow/kafka-log'
import { scrape } from '@orderflow/service-kit/testing'
import type { Admin } from '@platformatic/kafka'
import { expect } from 'chai'
import { localKafka } from '../../src/kafka/connection.ts'
import { ensureTopics } from '../../src/kafka/topics.ts'
import { streamMetrics } from '../../src/observe/stream-metrics.ts'
import type { Plan } from '../../src/processes/plan.ts'
import { send } from './send.ts'

const topic = 'positions'
const group = 'a-group-of-nobody'

export function positions(planned: () => Plan): void {
  describe('streamMetrics and positionsOf', () => {
    const ask = <T>(work: (admin: Admin) => Promise<T>) => withAdmin(localKafka(planned().ports.kafka), work)
    const publish = () => send(localKafka(planned().ports.kafka), { topic, key: 'k', value: Buffer.from('{}') })

    before(() => {
      const configs = { 'message.timestamp.type': 'LogAppendTime' }
      return ensureTopics(localKafka(planned().ports.kafka), [
        { name: topic, partitions: 2, consumerGroups: [], configs },
      ])
    })

    it('returns the number of records of each partition, and the lag and waiting time of a group that was never active', async () => {
      const before = Date.now()
      await publish()
      await publish()
      const found = await ask(async (admin) => ({
        extents: await extentsOf(admin, [topic]),
        positions: await positionsOf(admin, new Map([[group, [topic]]])),
      }))
      expect(found.extents.map(({ start, end }) => Number(end - start)).sort()).to.deep.equal([0, 2])
      for (const { next } of found.positions) expect(next).to.equal(0n)
      const [empty, full] = found.positions.toSorted((one, other) => one.lag - other.lag)
      expect(empty).to.include({ lag: 0, oldest: undefined })
      expect(full).to.include({ lag: 2 })
      expect(full?.oldest).to.be.within(before - 1_000, Date.now() + 1_000)
    })

    it('reports, before a scrape times out, that Kafka does not answer', async () => {
      const started = performance.now()
      const nobody = { bootstrapBrokers: ['127.0.0.1:1'] }
      expect([...(await scrape(streamMetrics(nobody)))]).to.deep.equal([['orderflow_kafka_up', 0]])
      expect(performance.now() - started).to.be.below(3_500)
    })
  })
}
