import { expect } from 'chai'
import { SidecarError, type Write } from '../../src/sidecar/sidecar.ts'
import { createArrivalList } from '../../src/state/arrival-list.ts'
import { createUnitOfWork, type UnitOfWork } from '../../src/state/unit-of-work.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { virtualTime } from '../support/virtual-time.ts'

describe('unit of work', () => {
  let sidecar: FakeSidecar
  let change: UnitOfWork
  beforeEach(() => {
    sidecar = new FakeSidecar()
    change = createUnitOfWork(
      sidecar,
      createArrivalList(() => new Date()),
    )
  })

  const increment = (key: string) =>
    change({
      keys: [key],
      bytes: 10,
      decide(view) {
        const next = (view.get<number>(key) ?? 0) + 1
        view.write(key, next)
        return next
      },
    })

  it('shows each piece of work what the one before it wrote, in one transaction', async () => {
    expect(await Promise.all([increment('a'), increment('a'), increment('b')])).to.deep.equal([1, 2, 1])
    expect(sidecar.calls.transact).to.equal(1)
    expect(sidecar.documents.get('a')?.value).to.equal(2)
  })

  describe('on a sidecar that asks for time between writes', () => {
    const time = virtualTime()

    it('leaves it between two transactions', async () => {
      Object.assign(sidecar, { writeIntervalMs: 20 })
      change = createUnitOfWork(
        sidecar,
        createArrivalList(() => new Date()),
      )
      await increment('a')
      const second = increment('a')
      await time.pass(19)
      expect(sidecar.calls.transact).to.equal(1)
      await time.pass(1)
      expect(await second).to.equal(2)
    })
  })

  it('decides again when another writer was faster', async () => {
    sidecar.beforeTransact = () => {
      sidecar.beforeTransact = () => {}
      sidecar.writeElsewhere('a', 41)
    }
    expect(await increment('a')).to.equal(42)
    expect(sidecar.documents.get('a')?.value).to.equal(42)
  })

  it('creates a document only once when two writers create it', async () => {
    sidecar.beforeTransact = () => {
      sidecar.beforeTransact = () => {}
      sidecar.writeElsewhere('a', 1)
    }
    expect(await increment('a')).to.equal(2)
  })

  /** The writes of a transaction whose outcome hangs on what was read. */
  const guardsOf = (writes: Write[]) => writes.filter(({ guard }) => guard).map(({ key }) => key)

  it('guards a whole transaction by its fence, and each document after another writer came between', async () => {
    const seen: string[][] = []
    const transact = sidecar.transact.bind(sidecar)
    sidecar.transact = (writes) => {
      seen.push(guardsOf(writes))
      return transact(writes)
    }
    await Promise.all([increment('a'), increment('b')])
    sidecar.beforeTransact = () => {
      sidecar.beforeTransact = () => {}
      sidecar.writeElsewhere('c', 1)
    }
    await Promise.all([increment('a'), increment('b')])
    expect(seen).to.deep.equal([['fence'], ['fence'], ['a', 'b']])
  })

  it('is not cautious after a failure that is no lost race', async () => {
    sidecar.failures.transact.push(new SidecarError('write state', new Error('down')))
    await increment('a').catch(() => {})
    const guards: string[][] = []
    const transact = sidecar.transact.bind(sidecar)
    sidecar.transact = (writes) => {
      guards.push(guardsOf(writes))
      return transact(writes)
    }
    await increment('a')
    expect(guards).to.deep.equal([['fence']])
  })

  it('writes nothing, its fence neither, when nothing is to be written', async () => {
    expect(await change({ keys: ['a'], bytes: 10, decide: (view) => view.get('a') ?? 'nothing' })).to.equal('nothing')
    expect(sidecar.calls.transact).to.equal(0)
    expect(sidecar.documents.size).to.equal(0)
  })

  it('shares no transaction among more than it can take', async () => {
    const mebibyte = 1024 * 1024
    const write = (key: string) =>
      change({ keys: [key], bytes: 2 * mebibyte, decide: (view) => view.write(key, 'a document') })
    await Promise.all(['a', 'b', 'c'].map(write))
    expect(sidecar.calls.transact).to.equal(2)
  })

  it('counts a transaction that can be seen although another writer has passed its fence', async () => {
    const transact = sidecar.transact.bind(sidecar)
    sidecar.transact = async (writes) => {
      await transact(writes)
      sidecar.writeElsewhere('b', 1)
    }
    await increment('a')
    expect(sidecar.calls.transact).to.equal(1)
  })

  it('loses no race to a replica that writes something else, once it is cautious', async () => {
    sidecar.beforeTransact = () => sidecar.writeElsewhere('c', Math.random())
    await increment('a')
    const before = sidecar.calls.transact
    await increment('a')
    expect(sidecar.calls.transact - before).to.equal(1)
    expect(sidecar.documents.get('a')?.value).to.equal(2)
  })

  for (const first of ['it', 'the replica']) {
    it(`and a replica that is not cautious notice each other while it is, when ${first} writes first`, async () => {
      const other = createUnitOfWork(
        sidecar,
        createArrivalList(() => new Date()),
      )
      sidecar.beforeTransact = () => {
        sidecar.beforeTransact = () => {}
        sidecar.writeElsewhere('c', 1)
      }
      await increment('a')
      const add = (change: UnitOfWork) =>
        change({
          keys: ['a'],
          bytes: 10,
          decide: (view) => view.write('a', (view.get<number>('a') ?? 0) + 1),
        })
      sidecar.readTogether(2)
      await Promise.all((first === 'it' ? [other, change] : [change, other]).map(add))
      expect(sidecar.documents.get('a')?.value).to.equal(3)
    })
  }

  it('fails alone, without its writes, when its decide throws', async () => {
    const broken = change({
      keys: ['b'],
      bytes: 10,
      decide(view) {
        view.write('b', 1)
        throw new Error('no')
      },
    })
    const [good, bad] = await Promise.allSettled([increment('a'), broken])
    expect(good).to.deep.equal({ status: 'fulfilled', value: 1 })
    expect(bad).to.have.nested.property('reason.message', 'no')
    expect([...sidecar.documents.keys()]).to.deep.equal(['fence', 'a'])
  })

  it('fails alone when what it writes nests too deep to be serialised', async () => {
    const deep = change({
      keys: ['b'],
      bytes: 10,
      decide: (view) => view.write('b', JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))),
    })
    const [good, bad] = await Promise.allSettled([increment('a'), deep])
    expect([good.status, bad.status]).to.deep.equal(['fulfilled', 'rejected'])
  })

  it('does not count a transaction that the store only pretends to have committed', async () => {
    const swallow = sidecar.transact.bind(sidecar)
    let swallowed = 0
    sidecar.transact = async (writes) => {
      swallowed += 1
      if (swallowed > 1) await swallow(writes)
    }
    expect(await increment('a')).to.equal(1)
    expect(swallowed).to.equal(2)
    expect(sidecar.documents.get('a')?.value).to.equal(1)
  })

  it('says which document is missing when the store goes on pretending', async () => {
    sidecar.transact = async () => {}
    const error = await increment('a').catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(SidecarError)
    expect(error).to.have.property('message', 'write state: a does not hold what was written')
  })

  it('fails the batch when the store is down, and nothing later', async () => {
    sidecar.failures.transact.push(new SidecarError('write state', new Error('down')))
    const results = await Promise.allSettled([increment('a'), increment('b')])
    expect(results.map((result) => result.status)).to.deep.equal(['rejected', 'rejected'])
    expect(await increment('a')).to.equal(1)
  })

  it('is not fooled by another writer who stored the same in one of its documents', async () => {
    const write = (key: string) => change({ keys: [key], bytes: 10, decide: (view) => view.write(key, 'same') })
    const transact = sidecar.transact.bind(sidecar)
    let calls = 0
    sidecar.transact = async (writes) => {
      calls += 1
      if (calls === 1) sidecar.set('a', 'same')
      else await transact(writes)
    }
    await Promise.all([write('a'), write('b')])
    expect(sidecar.documents.get('b')?.value).to.equal('same')
  })

  it('gives up after some lost races, and leaves the batch to be tried later', async () => {
    sidecar.beforeTransact = () => sidecar.writeElsewhere('a', Math.random())
    const error = await increment('a').catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(SidecarError)
    expect(sidecar.calls.transact).to.equal(8)
  })
})
