import { expect } from 'chai'
import { createArrivalList } from '../src/arrival-list.ts'
import { SidecarError } from '../src/sidecar.ts'
import { createUnitOfWork, type UnitOfWork } from '../src/unit-of-work.ts'
import { FakeSidecar } from './fake-sidecar.ts'

describe('unit of work', () => {
  let sidecar: FakeSidecar
  let commit: UnitOfWork
  beforeEach(() => {
    sidecar = new FakeSidecar()
    commit = createUnitOfWork(
      sidecar,
      createArrivalList(() => new Date()),
    )
  })

  const increment = (key: string) =>
    commit({
      keys: [key],
      bytes: 10,
      decide(view) {
        const next = (view.get<number>(key) ?? 0) + 1
        view.replace(key, next)
        return next
      },
    })

  it('shows each piece of work what the one before it wrote, in one transaction', async () => {
    expect(await Promise.all([increment('a'), increment('a'), increment('b')])).to.deep.equal([1, 2, 1])
    expect(sidecar.calls.transact).to.equal(1)
    expect(sidecar.documents.get('a')?.value).to.equal(2)
  })

  it('decides again when another writer was faster', async () => {
    sidecar.beforeTransact = () => {
      sidecar.beforeTransact = () => {}
      sidecar.set('a', 41)
    }
    expect(await increment('a')).to.equal(42)
    expect(sidecar.documents.get('a')?.value).to.equal(42)
  })

  it('creates a document only once when two writers create it', async () => {
    sidecar.beforeTransact = () => {
      sidecar.beforeTransact = () => {}
      sidecar.set('a', 1)
    }
    expect(await increment('a')).to.equal(2)
  })

  it('fails alone, without its writes, when its decide throws', async () => {
    const broken = commit({
      keys: ['b'],
      bytes: 10,
      decide(view) {
        view.put('b', 1)
        throw new Error('no')
      },
    })
    const [good, bad] = await Promise.allSettled([increment('a'), broken])
    expect([good.status, bad.status]).to.deep.equal(['fulfilled', 'rejected'])
    expect([...sidecar.documents.keys()]).to.deep.equal(['a'])
  })

  it('fails alone when what it writes nests too deep to be serialised', async () => {
    const deep = commit({
      keys: ['b'],
      bytes: 10,
      decide: (view) => view.put('b', JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))),
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

  it('fails the batch when the store is down, and nothing later', async () => {
    sidecar.failures.transact.push(new SidecarError('write state', new Error('down')))
    const results = await Promise.allSettled([increment('a'), increment('b')])
    expect(results.map((result) => result.status)).to.deep.equal(['rejected', 'rejected'])
    expect(await increment('a')).to.equal(1)
  })
})
