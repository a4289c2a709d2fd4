import { expect } from 'chai'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { createArrivalLists } from '../../src/state/arrival-list.ts'
import type { UnitOfWork } from '../../src/state/batch.ts'
import { createUnitOfWork } from '../../src/state/unit-of-work.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

const list = () => createArrivalLists(() => new Date())
const down = () => new SidecarError('write state', new Error('down'))

for (const [type, call] of [
  ['state.sqlite', 'transact'],
  ['state.postgresql', 'save'],
  ['state.mongodb', 'save'],
] as const) {
  describe(`createUnitOfWork on ${type}`, () => {
    let sidecar: FakeSidecar
    let change: UnitOfWork
    beforeEach(() => {
      sidecar = new FakeSidecar(type)
      change = createUnitOfWork(sidecar, list())
    })
    /** The number of reads that the first batch needs to find a shard for the list. */
    const readsToBegin = 2

    const increment = (key: string) =>
      change({
        key,
        bytes: 10,
        decide(view) {
          const next = (view.get<number>(key) ?? 0) + 1
          view.write(next)
          return next
        },
      })

    it('shows an operation the changes of the previous operations of the batch, and writes each document once', async () => {
      expect(await Promise.all([increment('a'), increment('a'), increment('b')])).to.deep.equal([1, 2, 1])
      const readsOfDocuments = type === 'state.postgresql' ? 0 : 1
      expect(sidecar.calls).to.include({ read: readsOfDocuments + readsToBegin, [call]: 1 })
      expect(sidecar.documents.get('a')?.value).to.equal(2)
    })

    it('lets an operation see only the documents that it names', async () => {
      for (const key of ['a', 'b', 'c']) sidecar.set(key, key)
      const seen = await change({
        key: 'a',
        beside: ['b'],
        bytes: 10,
        decide: (view) => ['a', 'b', 'c'].map((key) => view.get(key)),
      })
      expect(seen).to.deep.equal(['a', 'b', undefined])
      expect(sidecar.calls.readOne).to.equal(0)
    })

    it('shows an operation its own change, and its other documents unchanged', async () => {
      for (const key of ['a', 'b']) sidecar.set(key, 'of before')
      const seen = await change({
        key: 'a',
        beside: ['b'],
        bytes: 10,
        decide(view) {
          view.write('ours')
          return ['a', 'b'].map((key) => view.get(key))
        },
      })
      expect(seen).to.deep.equal(['ours', 'of before'])
    })

    it('runs an operation again after a lost race', async () => {
      sidecar.beforeWrite = () => {
        sidecar.beforeWrite = () => {}
        sidecar.writeElsewhere('a', 41)
      }
      expect(await increment('a')).to.equal(42)
      expect(sidecar.documents.get('a')?.value).to.equal(42)
    })

    it('keeps concurrent changes of two replicas to the same document', async () => {
      const add = (id: string, by: UnitOfWork) =>
        by({ key: 'a', bytes: 10, decide: (view) => view.write([...(view.get<string[]>('a') ?? []), id]) })
      sidecar.readTogether(2)
      await Promise.all([add('one', change), add('other', createUnitOfWork(sidecar, list()))])
      expect(sidecar.documents.get('a')?.value).to.have.members(['one', 'other'])
    })

    it('writes nothing for operations that only read', async () => {
      expect(await change({ key: 'a', bytes: 10, decide: (view) => view.get('a') ?? 'nothing' })).to.equal('nothing')
      expect(sidecar.calls[call]).to.equal(0)
      expect(sidecar.documents.size).to.equal(0)
    })

    describe('if a bulk read leaves out a document', () => {
      beforeEach(() => {
        for (const key of ['a', 'b']) {
          sidecar.set(key, 'of before')
          sidecar.overlooked.add(key)
        }
      })
      const look = (key: string, beside: string[] = []) =>
        change({
          key,
          beside,
          bytes: 10,
          decide: (view) => [key, ...beside].map((name) => view.get(name) ?? 'nothing'),
        })

      it('finds the document for an operation that writes nothing', async () => {
        expect(await look('a')).to.deep.equal(['of before'])
        expect(await look('c', ['a', 'b'])).to.deep.equal(['nothing', 'of before', 'of before'])
        expect(sidecar.calls).to.include({ read: 2 * readsToBegin, readOne: 4, [call]: 0 })
      })

      it('finds the document for an operation that throws because the document seems to be absent', async () => {
        const required = change({
          key: 'a',
          bytes: 10,
          decide(view) {
            if (!view.get('a')) throw new Error('not found')
            view.write('changed')
          },
        })
        await required
        expect(sidecar.documents.get('a')?.value).to.equal('changed')
      })

      it('fails the operation if a separate read of the document fails', async () => {
        sidecar.failures.readOne.push(down())
        const error = await look('a').catch((error: unknown) => error)
        expect(error).to.be.an.instanceOf(SidecarError).with.property('failure', 'unavailable')
      })
    })

    it('splits a batch that exceeds the limit of bytes', async () => {
      const mebibyte = 1024 * 1024
      const write = (key: string) => change({ key, bytes: 2 * mebibyte, decide: (view) => view.write('a document') })
      await Promise.all(['a', 'b', 'c'].map(write))
      expect(sidecar.calls[call]).to.equal(2)
    })

    it('fails only the operation that throws, and drops its writes', async () => {
      const broken = change({
        key: 'b',
        bytes: 10,
        decide(view) {
          view.write(1)
          throw new Error('no')
        },
      })
      const [good, bad] = await Promise.allSettled([increment('a'), broken])
      expect(good).to.deep.equal({ status: 'fulfilled', value: 1 })
      expect(bad).to.have.nested.property('reason.message', 'no')
      expect([...sidecar.documents.keys()])
        .to.include('a')
        .and.not.include('b')
    })

    it('fails only the operation whose document is nested too deeply', async () => {
      const deep = change({
        key: 'b',
        bytes: 10,
        decide: (view) => view.write(JSON.parse('['.repeat(200_000) + ']'.repeat(200_000))),
      })
      const [good, bad] = await Promise.allSettled([increment('a'), deep])
      expect([good.status, bad.status]).to.deep.equal(['fulfilled', 'rejected'])
    })

    it('fails the batch while the store is unreadable, and succeeds when the store is back', async () => {
      sidecar.failures.read.push(down())
      const results = await Promise.allSettled([increment('a'), increment('b')])
      expect(results.map((result) => result.status)).to.deep.equal(['rejected', 'rejected'])
      expect(await increment('a')).to.equal(1)
    })

    it('gives up after eight attempts that lost a race', async () => {
      sidecar.beforeWrite = () => sidecar.writeElsewhere('a', Math.random())
      const error = await increment('a').catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(SidecarError)
      expect(sidecar.calls[call]).to.equal(8)
    })
  })
}

describe('createUnitOfWork', () => {
  const write = (change: UnitOfWork) => change({ key: 'a', bytes: 10, decide: (view) => view.write(1) })

  it('refuses an untested type of store, and names the tested types', async () => {
    const sidecar = new FakeSidecar('state.redis')
    const error = await write(createUnitOfWork(sidecar, list())).catch((thrown: unknown) => thrown)
    const message =
      'write state: the store type state.redis is not tested with these services; use state.sqlite, state.postgresql or state.mongodb'
    expect(error).to.be.instanceOf(SidecarError).and.include({ message })
    expect(sidecar.calls).to.deep.equal({ publish: 0, read: 0, readOne: 0, transact: 0, save: 0, remove: 0 })
  })

  it('asks for the store’s type again if the sidecar was unavailable', async () => {
    const sidecar = new FakeSidecar()
    const store = sidecar.store.bind(sidecar)
    sidecar.store = async () => {
      sidecar.store = store
      throw down()
    }
    const change = createUnitOfWork(sidecar, list())
    expect(await write(change).catch((thrown: unknown) => thrown)).to.be.instanceOf(SidecarError)
    await write(change)
    expect(sidecar.documents.get('a')?.value).to.equal(1)
  })

  it('asks for the store’s type once for concurrent operations', async () => {
    const sidecar = new FakeSidecar()
    const store = sidecar.store.bind(sidecar)
    let [asked, isReady] = [0, false]
    sidecar.store = async () => {
      asked += 1
      if (!isReady) throw down()
      return store()
    }
    const change = createUnitOfWork(sidecar, list())
    const attempts = () => Promise.allSettled(Array.from({ length: 100 }, () => write(change)))
    expect((await attempts()).filter(({ status }) => status === 'rejected')).to.have.length(100)
    expect(asked).to.equal(1)
    isReady = true
    expect((await attempts()).filter(({ status }) => status === 'fulfilled')).to.have.length(100)
    await attempts()
    expect(asked).to.equal(2)
  })
})
