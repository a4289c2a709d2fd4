import { expect } from 'chai'
import { type Sidecar, SidecarError } from '../../src/sidecar/sidecar.ts'
import { createArrivalLists } from '../../src/state/arrival-list.ts'
import type { UnitOfWork, View } from '../../src/state/batch.ts'
import { createIndependent } from '../../src/state/independent.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

const lost = () => new SidecarError('save state', new Error('connection lost'))

describe('createIndependent', () => {
  let sidecar: FakeSidecar
  let change: UnitOfWork
  /** The keys of each bulk save. */
  let saves: string[][]
  beforeEach(() => {
    sidecar = new FakeSidecar('state.mongodb')
    change = createIndependent(
      sidecar,
      createArrivalLists(() => new Date()),
      undefined,
      { choosesEtags: false },
    )
    saves = []
    const save = sidecar.save.bind(sidecar)
    sidecar.save = (writes, etag) => {
      saves.push(writes.map(({ key }) => key))
      return save(writes, etag)
    }
  })
  const write = (key: string, value: unknown, decide = (view: View) => view.write(value)) =>
    change({ key, bytes: 10, decide })
  const listedOf = (key: string) => String(Object(sidecar.documents.get(key)?.value).listed)
  /** Runs `how` instead of the next save. */
  const nextSave = (how: (save: Sidecar['save'], ...args: Parameters<Sidecar['save']>) => Promise<void>) => {
    const save = sidecar.save
    sidecar.save = (writes, etag) => {
      sidecar.save = save
      return how(save, writes, etag)
    }
  }

  it('saves each document with its own guard, and does not read the document again', async () => {
    await Promise.all([write('a', 1), write('b', 1)])
    expect(saves).to.deep.equal([['a', 'b']])
    // Two of the three reads find a shard for the list. Later batches do not repeat these two.
    expect(sidecar.calls).to.include({ read: 3, save: 1 })
    await write('c', 1)
    expect(sidecar.calls).to.include({ read: 4, save: 2 })
  })

  it('repeats only the operations that lost a race', async () => {
    sidecar.beforeWrite = () => {
      sidecar.beforeWrite = () => {}
      sidecar.set('b', 'of another')
    }
    await Promise.all([write('a', 1), write('b', 1), write('c', 1)])
    expect(saves).to.deep.equal([['a', 'b', 'c'], ['b']])
    expect(sidecar.documents.get('b')?.value).to.equal(1)
  })

  it('keeps the successful writes of a failed batch, and repeats the other writes', async () => {
    nextSave(async (save, writes, etag) => {
      await save(writes.slice(0, 1), etag)
      throw lost()
    })
    await Promise.all([write('a', 1), write('b', 1)])
    expect(saves).to.deep.equal([['a'], ['b']])
    expect(sidecar.documents.get('a')?.value).to.equal(1)
    expect(sidecar.documents.get('b')?.value).to.equal(1)
  })

  it('does not repeat a successful write whose answer was lost', async () => {
    nextSave(async (save, writes, etag) => {
      await save(writes, etag)
      throw lost()
    })
    await write('a', 1)
    expect(saves).to.deep.equal([['a']])
  })

  it('fails the operations whose writes fail in every attempt, and completes the other operations', async () => {
    const save = sidecar.save
    sidecar.save = async (writes, etag) => {
      await save(
        writes.filter(({ key }) => key !== 'b'),
        etag,
      )
      if (writes.some(({ key }) => key === 'b')) throw lost()
    }
    const results = await Promise.allSettled([write('a', 1), write('b', 1)])
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected'])
    expect(saves).to.have.length(8)
  })

  it('fails the batch if it cannot find out whether a write succeeded', async () => {
    nextSave(async () => {
      sidecar.failures.read.push(lost())
      throw lost()
    })
    const results = await Promise.allSettled([write('a', 1), write('b', 1)])
    expect(results.map(({ status }) => status)).to.deep.equal(['rejected', 'rejected'])
  })

  it('finds the one document that the sidecar refuses, and stores the other documents', async () => {
    const save = sidecar.save
    sidecar.save = async (writes, etag) => {
      if (!writes.some(({ key }) => key === 'c')) return save(writes, etag)
      throw new SidecarError('save state', new Error('too large'), 'refused')
    }
    const results = await Promise.allSettled(['a', 'b', 'c', 'd'].map((key) => write(key, 1)))
    expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
    expect([...sidecar.documents.keys()]).to.have.members(['a', 'b', 'd'])
    expect(saves).to.deep.equal([['a', 'b'], ['d']])
  })

  describe('for an operation that has read an unsaved change of another operation', () => {
    beforeEach(() => {
      sidecar.beforeWrite = () => {
        sidecar.beforeWrite = () => {}
        sidecar.set('a', 'of another')
      }
    })
    const first = () => write('a', 'ours', (view) => void (view.get('a') ?? view.write('ours')))

    it('repeats the operation if it wrote nothing', async () => {
      const look = () => change({ key: 'a', bytes: 10, decide: (view) => view.get('a') })
      expect((await Promise.all([first(), look()]))[1]).to.equal('of another')
    })

    it('repeats the operation if it read the change in addition to its own document', async () => {
      const look = () => change({ key: 'b', beside: ['a'], bytes: 10, decide: (view) => view.get('a') })
      expect((await Promise.all([first(), look()]))[1]).to.equal('of another')
    })

    it('repeats the operation if it threw an error', async () => {
      const refuse = () =>
        change({
          key: 'a',
          bytes: 10,
          decide(view) {
            throw new Error(`not with ${view.get('a')}`)
          },
        })
      const [, refused] = await Promise.allSettled([first(), refuse()])
      expect(refused).to.have.nested.property('reason.message', 'not with of another')
    })
  })

  it('stores a chunk of the list before the documents that name this chunk', async () => {
    await Promise.all(['a', 'b'].map((key) => write(key, '', (view) => view.write({ listed: view.list(key) }))))
    const [chunk, documents] = saves
    expect(chunk?.[0]).to.match(/^list\/\d+\/0$/)
    expect(documents).to.deep.equal(['a', 'b'])
  })

  it('lists documents in another chunk if a chunk cannot be stored', async () => {
    nextSave(async () => {
      throw lost()
    })
    await write('a', '', (view) => view.write({ listed: view.list('a') }))
    const [shard, n, index] = listedOf('a').split(':')
    expect(sidecar.documents.get(`list/${shard}/${n}`)?.value).to.have.nested.property(`ids[${index}]`, 'a')
  })

  it('runs several batches at the same time, and gives each listed document its own slot', async () => {
    const list = (key: string) => write(key, '', (view) => view.write({ listed: view.list(key) }))
    const keys = Array.from({ length: 2_000 }, (_, index) => `${index}`)
    let [waiting, most] = [0, 0]
    const read = sidecar.read.bind(sidecar)
    sidecar.read = async (asked) => {
      waiting += 1
      most = Math.max(most, waiting)
      const found = await read(asked)
      waiting -= 1
      return found
    }
    await Promise.all(keys.map(list))
    expect(most).to.equal(4)
    const slots = keys.map(listedOf)
    expect(new Set(slots).size).to.equal(2_000)
    for (const [index, slot] of slots.entries()) {
      const [shard, n, place] = slot.split(':')
      expect(sidecar.documents.get(`list/${shard}/${n}`)?.value).to.have.nested.property(`ids[${place}]`, keys[index])
    }
  })
})
