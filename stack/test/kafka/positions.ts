import { setTimeout as delay } from 'node:timers/promises'
import { scrape } from '@orderflow/service-kit/testing'
import type { Admin } from '@platformatic/kafka'
import { expect } from 'chai'
import { send } from '../../src/commands/publish.ts'
import { localKafka } from '../../src/kafka/connection.ts'
import { arrivalsOf, extentsOf, positionsOf } from '../../src/kafka/positions.ts'
import { ensureTopics, withAdmin } from '../../src/kafka/topics.ts'
import { streamMetrics } from '../../src/observe/stream-metrics.ts'
import type { Plan } from '../../src/processes/plan.ts'

const topic = 'positions'
const group = 'a-group-of-nobody'

/** What the exporter learns of a broker without reading a record. */
export function positions(planned: () => Plan): void {
  describe('where things stand', () => {
    const ask = <T>(work: (admin: Admin) => Promise<T>) => withAdmin(localKafka(planned().ports.kafka), work)
    const publish = () => send(localKafka(planned().ports.kafka), { topic, key: 'k', value: Buffer.from('{}') })

    before(() => {
      const configs = { 'message.timestamp.type': 'LogAppendTime' }
      return ensureTopics(localKafka(planned().ports.kafka), [
        { name: topic, partitions: 2, consumerGroups: [], configs },
      ])
    })

    it('is told of each partition: what there is, and what a group that never came has still to handle', async () => {
      await publish()
      await publish()
      const found = await ask(async (admin) => {
        const extents = await extentsOf(admin, [topic])
        return { extents, positions: await positionsOf(admin, new Map([[group, [topic]]]), extents) }
      })
      expect(found.extents.map(({ first, end }) => Number(end - first)).sort()).to.deep.equal([0, 2])
      expect(found.positions.map(({ lag }) => lag).sort()).to.deep.equal([0, 2])
      for (const { next } of found.positions) expect(next).to.equal(0n)
    })

    it('finds when each record came, however long ago, to within a twentieth', async () => {
      const { partition = -1 } = (await ask((admin) => extentsOf(admin, [topic]))).find(({ end }) => end > 0n) ?? {}
      await delay(1_500)
      const before = Date.now()
      await publish()
      const after = Date.now()
      const places = [0n, 1n, 2n].map((offset) => ({ topic, partition, offset }))
      for (const laterMs of [0, 5_000, 90_000, 30 * 24 * 3_600_000]) {
        const now = Date.now() + laterMs
        const [first = 0, , last = 0] = await ask((admin) => arrivalsOf(admin, places, now))
        const slack = Math.max(20, 0.05 * (now - before)) + 20
        expect(last, `${laterMs} ms later`).to.be.within(before - slack, after + slack)
        expect(first, `${laterMs} ms later`).to.be.within(before - 60_000 - slack, before - 1_000 + slack)
      }
    })

    it('does not take what is gone for what has waited', async () => {
      const now = Date.now()
      expect(await ask((admin) => arrivalsOf(admin, [{ topic, partition: 0, offset: -5n }], now))).to.deep.equal([now])
    })

    it('is that nobody is there, where nobody is', async () => {
      const started = performance.now()
      const nobody = { bootstrapBrokers: ['127.0.0.1:1'] }
      expect([...(await scrape(streamMetrics(nobody)))]).to.deep.equal([['orderflow_kafka_up', 0]])
      expect(performance.now() - started).to.be.below(3_500)
    })
  })
}
