import { expect } from 'chai'
import { createArrivalLists } from '../../src/state/arrival-list.ts'
import type { UnitOfWork } from '../../src/state/batch.ts'
import { createUnitOfWork } from '../../src/state/unit-of-work.ts'
import { arrivals } from './arrivals.ts'

for (const type of ['state.sqlite', 'state.postgresql']) {
  describe(`createArrivalLists, about shards and clocks, on ${type}`, () => {
    const tested = arrivals(type)
    const { writer, add, page, all, now } = tested

    it('orders entries by the writers’ clocks', async () => {
      const writers = Array.from({ length: 8 }, writer)
      const ids = Array.from({ length: 800 }, (_, id) => `${id}`)
      for (const id of ids) {
        tested.clock += 1
        await add(writers[(Number(id) * 5) % 8] as UnitOfWork, id)
      }
      expect(await all(100)).to.deep.equal(ids.toReversed())
    })

    it('orders entries by time in pages of any length, even if one writer adds most entries', async () => {
      const [busy, idle] = [writer(), writer()]
      const ids = Array.from({ length: 300 }, (_, id) => `${id}`)
      for (const id of ids) {
        tested.clock += 1
        await add(Number(id) % 50 === 7 ? idle : busy, id)
      }
      for (const limit of [7, 100, 300]) expect(await all(limit), `${limit}`).to.deep.equal(ids.toReversed())
    })

    it('keeps the order of a writer’s entries even if the writer’s clock is set back', async () => {
      const commit = writer()
      for (const id of ['a', 'b', 'c']) {
        await add(commit, id)
        tested.clock -= 60_000
      }
      expect((await page(10)).items).to.deep.equal(['c', 'b', 'a'])
    })

    it('lists new entries above older ones after a clock was ahead for a while, also after restarts', async () => {
      const year = 365 * 24 * 3_600_000
      const commit = writer()
      await add(commit, 'before')
      tested.clock += year
      await add(commit, 'ahead')
      tested.clock -= year
      for (const id of ['corrected', 'again']) await add(commit, id)
      const restarted = writer()
      for (const id of ['restarted', 'later']) await add(restarted, id)
      await add(writer(), 'last')
      const expected = ['last', 'later', 'restarted', 'again', 'corrected', 'ahead', 'before']
      expect(await all(2)).to.deep.equal(expected)
    })

    it('orders the entries of several writers by time although the clock of one of them was ahead for a while', async () => {
      let time = 0
      const wrong = { ms: 0 }
      const writerWith = (ahead: { ms: number }) =>
        createUnitOfWork(
          tested.sidecar,
          createArrivalLists(() => new Date(tested.clock + ahead.ms), { elapsed: () => time }),
        )
      const pass = (ms: number) => {
        tested.clock += ms
        time += ms
      }
      const [one, other] = [writerWith(wrong), writerWith({ ms: 0 })]
      await add(one, 'a')
      pass(1_000)
      await add(other, 'b')
      wrong.ms = 3_600_000
      pass(1_000)
      await add(one, 'c')
      wrong.ms = 0
      // Writers see the times of the others once a minute.
      pass(61_000)
      for (const [index, commit] of [other, one, other, one, other].entries()) {
        await add(commit, `${index}`)
        pass(1_000)
      }
      expect(await all(3)).to.deep.equal(['4', '3', '2', '1', '0', 'c', 'b', 'a'])
    })

    it('uses few shards in restarts after a clock was ahead', async () => {
      tested.clock += 3_600_000
      await add(writer(), 'ahead')
      tested.clock -= 3_600_000
      let time = 0
      for (let restart = 0; restart < 10; restart += 1) {
        const lists = createArrivalLists(now, { elapsed: () => time })
        await add(createUnitOfWork(tested.sidecar, lists), `${restart}`)
        time += 30_000
        tested.clock += 30_000
        await add(createUnitOfWork(tested.sidecar, lists), `${restart} later`)
      }
      expect(new Set(tested.sidecar.chunkKeys().map((key) => key.split('/')[1])).size).to.be.below(4)
    })

    it('gives each concurrent writer its own shard, and lets writers share shards if there are more writers than shards', async () => {
      const writers = Array.from({ length: 24 }, writer)
      const ids = Array.from({ length: 24 * 200 }, (_, id) => `${id}`)
      for (let round = 0; round < 200; round += 1) {
        await Promise.all(writers.map((commit, index) => add(commit, `${round * 24 + index}`)))
      }
      expect((await all(200)).toSorted()).to.deep.equal(ids.toSorted())
    })

    it('gives a new writer an idle shard, so that the number of reads for a page does not grow', async () => {
      for (let restart = 0; restart < 10; restart += 1) {
        await add(writer(), `${restart}`)
        tested.clock += 60_000
      }
      expect(new Set(tested.sidecar.chunkKeys().map((key) => key.split('/')[1])).size).to.equal(1)
      expect(await all(3)).to.deep.equal(Array.from({ length: 10 }, (_, restart) => `${9 - restart}`))
    })
  })
}
