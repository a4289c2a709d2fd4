import { expect } from 'chai'
import { SidecarError, type Write } from '../../src/sidecar/sidecar.ts'
import { createArrivalLists } from '../../src/state/arrival-list.ts'
import type { UnitOfWork } from '../../src/state/batch.ts'
import { createTransactional } from '../../src/state/transactional.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { virtualTime } from '../support/virtual-time.ts'

const replicaOn = (sidecar: FakeSidecar) =>
  createTransactional(
    sidecar,
    createArrivalLists(() => new Date()),
  )

describe('createTransactional', () => {
  let sidecar: FakeSidecar
  let change: UnitOfWork
  /** The keys that each transaction wrote with a guard. */
  let guards: string[][]
  beforeEach(() => {
    sidecar = new FakeSidecar()
    change = replicaOn(sidecar)
    guards = []
    const transact = sidecar.transact.bind(sidecar)
    sidecar.transact = (writes: Write[]) => {
      guards.push(writes.filter(({ guard }) => guard).map(({ key }) => key))
      return transact(writes)
    }
  })
  const increment = (key: string, by = change) =>
    by({ key, bytes: 10, decide: (view) => view.write((view.get<number>(key) ?? 0) + 1) })

  describe('with a sidecar that needs time between writes', () => {
    const time = virtualTime()

    it('pauses between two transactions, so that other writers can proceed', async () => {
      Object.assign(sidecar, { writeIntervalMs: 20 })
      change = replicaOn(sidecar)
      await increment('a')
      const second = increment('a')
      await time.pass(19)
      expect(sidecar.calls.transact).to.equal(1)
      await time.pass(1)
      await second
      expect(sidecar.documents.get('a')?.value).to.equal(2)
    })
  })

  it('guards only the fence in the first attempt, and each document after a lost race', async () => {
    for (const key of ['a', 'b']) sidecar.set(key, 0)
    await Promise.all([increment('a'), increment('b')])
    sidecar.beforeWrite = () => {
      sidecar.beforeWrite = () => {}
      sidecar.writeElsewhere('c', 1)
    }
    await Promise.all([increment('a'), increment('b')])
    expect(guards).to.deep.equal([['fence'], ['fence'], ['a', 'b']])
  })

  it('guards each document only after a lost race, not after another failure', async () => {
    sidecar.set('a', 0)
    sidecar.failures.transact.push(new SidecarError('write state', new Error('down')))
    await increment('a').catch(() => {})
    await increment('a')
    expect(guards).to.deep.equal([['fence'], ['fence']])
  })

  it('always guards a new chunk of the list, because the chunk was not read with the fence', async () => {
    for (const key of ['a', 'b']) sidecar.set(key, 0)
    await change({ key: 'a', bytes: 10, decide: (view) => view.write(view.list('a')) })
    await change({ key: 'b', bytes: 10, decide: (view) => view.write(view.list('b')) })
    expect(guards).to.deep.equal([['fence', sidecar.chunkKeys()[0]], ['fence']])
  })

  it('confirms that new documents are absent: with guards for a few documents, with a bulk read for many', async () => {
    await Promise.all(['a', 'b', 'c', 'd'].map((key) => increment(key)))
    expect(guards).to.deep.equal([['fence', 'a', 'b', 'c', 'd']])
    const reads = sidecar.calls.read
    const many = ['e', 'f', 'g', 'h', 'i']
    sidecar.set('i', 41)
    sidecar.overlooked.add('i')
    const read = sidecar.read.bind(sidecar)
    // The first read of the batch leaves out `i`. The second read is complete.
    sidecar.read = async (keys) => {
      const found = await read(keys)
      sidecar.overlooked.clear()
      return found
    }
    await Promise.all(many.map((key) => increment(key)))
    expect(guards.at(-1)).to.deep.equal(['fence'])
    expect(sidecar.calls.read).to.be.above(reads + 1)
    expect(sidecar.documents.get('i')?.value).to.equal(42)
  })

  it('succeeds in spite of concurrent writes of other documents if it guards each document', async () => {
    sidecar.beforeWrite = () => sidecar.writeElsewhere('c', Math.random())
    await increment('a')
    const before = sidecar.calls.transact
    await increment('a')
    expect(sidecar.calls.transact - before).to.equal(1)
    expect(sidecar.documents.get('a')?.value).to.equal(2)
  })

  for (const first of ['the cautious replica', 'the other replica']) {
    it(`a cautious replica, which guards each document, and another replica detect each other’s changes if ${first} writes first`, async () => {
      const other = replicaOn(sidecar)
      sidecar.beforeWrite = () => {
        sidecar.beforeWrite = () => {}
        sidecar.writeElsewhere('c', 1)
      }
      await increment('a')
      sidecar.readTogether(2)
      await Promise.all(
        (first === 'the cautious replica' ? [other, change] : [change, other]).map((by) => increment('a', by)),
      )
      expect(sidecar.documents.get('a')?.value).to.equal(3)
    })
  }

  it('fails the batch if the store is down, and succeeds when the store is back', async () => {
    sidecar.failures.transact.push(new SidecarError('write state', new Error('down')))
    const results = await Promise.allSettled([increment('a'), increment('b')])
    expect(results.map((result) => result.status)).to.deep.equal(['rejected', 'rejected'])
    await increment('a')
    expect(sidecar.documents.get('a')?.value).to.equal(1)
  })
})
