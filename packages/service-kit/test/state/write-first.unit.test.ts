import { expect } from 'chai'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { createArrivalLists } from '../../src/state/arrival-list.ts'
import type { UnitOfWork } from '../../src/state/batch.ts'
import { createUnitOfWork } from '../../src/state/unit-of-work.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

const list = () => createArrivalLists(() => new Date())

describe('createUnitOfWork on state.postgresql without reading first', () => {
  let sidecar: FakeSidecar
  let change: UnitOfWork
  beforeEach(() => {
    sidecar = new FakeSidecar('state.postgresql')
    change = createUnitOfWork(sidecar, list())
  })
  /** Creates documents. Returns for each document what `answer` returns for the stored one. */
  const createWith = <R>(keys: string[], answer: (stored: unknown) => R) =>
    Promise.all(
      keys.map((key) =>
        change({
          key,
          bytes: 10,
          decide(view) {
            const stored = view.get(key)
            if (stored === undefined) view.write('new')
            return answer(stored)
          },
        }),
      ),
    )
  const createAll = (keys: string[]) => createWith(keys, (stored) => stored ?? 'new')

  it('writes new documents without a read, and repeats only the operations whose documents exist', async () => {
    await createAll(['a'])
    const before = sidecar.calls.read
    expect(await createAll(['b', 'c', 'd'])).to.deep.equal(['new', 'new', 'new'])
    expect(sidecar.calls.read).to.equal(before)
    sidecar.set('f', 'old')
    expect(await createAll(['e', 'f', 'g', 'h'])).to.deep.equal(['new', 'old', 'new', 'new'])
    expect(['e', 'f', 'g'].map((key) => sidecar.documents.get(key)?.value)).to.deep.equal(['new', 'old', 'new'])
    // It reads which documents are stored, then the document of the repeated operation.
    expect(sidecar.calls.read).to.equal(before + 2)
  })

  it('reports a document as existing even if an earlier run wrote the same content', async () => {
    sidecar.set('a', 'new')
    const isNew = (stored: unknown) => stored === undefined
    expect(await createWith(['a', 'b', 'c'], isNew)).to.deep.equal([false, true, true])
  })

  it('reports a document as new if its write succeeded without an answer', async () => {
    const save = sidecar.save.bind(sidecar)
    sidecar.save = async (writes, etag, needed) => {
      sidecar.save = save
      await save(writes, etag, needed)
      throw new SidecarError('save state', new Error('connection lost'))
    }
    expect(await createAll(['a'])).to.deep.equal(['new'])
    expect(sidecar.calls.save).to.equal(1)
  })

  describe('with a list', () => {
    const addAll = (keys: string[]) =>
      Promise.all(
        keys.map((key) => change({ key, bytes: 10, decide: (view) => view.write({ listed: view.list(key) }) })),
      )
    /** Returns true if the list’s slot that a document names contains the document’s id. */
    const isListed = (key: string) => {
      const [shard, n, index] = String(Object(sidecar.documents.get(key)?.value).listed).split(':')
      return Object(sidecar.documents.get(`list/${shard}/${n}`)?.value).ids?.[Number(index)] === key
    }

    it('saves the list and the documents together', async () => {
      await addAll(['a', 'b'])
      expect(sidecar.calls.save).to.equal(1)
      expect(['a', 'b'].every(isListed)).to.equal(true)
    })

    it('saves no document if another process has changed the list, and lists the documents in another chunk', async () => {
      await addAll(['a'])
      const chunk = sidecar.chunkKeys()[0] as string
      const written: string[] = []
      sidecar.beforeWrite = () => {
        if (sidecar.calls.save === 2) sidecar.set(chunk, { by: 'another process', ids: ['x'], at: [1] })
        if (sidecar.calls.save === 3) written.push(...['b', 'c'].filter((key) => sidecar.documents.has(key)))
      }
      await addAll(['b', 'c'])
      expect(written).to.deep.equal([])
      expect(sidecar.documents.get(chunk)?.value).to.deep.include({ ids: ['x'] })
      expect(['b', 'c'].every(isListed)).to.equal(true)
    })

    it('keeps its chunk of the list if only a document was not saved', async () => {
      await addAll(['a'])
      sidecar.beforeWrite = () => {
        sidecar.beforeWrite = () => {}
        sidecar.set('b', 'of another')
      }
      await addAll(['b', 'c'])
      expect(['b', 'c'].every(isListed)).to.equal(true)
      expect(sidecar.chunkKeys()).to.have.length(1)
    })

    it('keeps its chunk of the list if the store refuses a document', async () => {
      await addAll(['a'])
      const save = sidecar.save.bind(sidecar)
      sidecar.save = async (writes, etag, needed) => {
        if (writes.some(({ key }) => key === 'c')) {
          throw new SidecarError('save state', new Error('invalid data'), 'refused')
        }
        return save(writes, etag, needed)
      }
      const results = await Promise.allSettled(['b', 'c', 'd', 'e'].map((key) => addAll([key])))
      expect(results.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
      expect(['b', 'd', 'e'].every(isListed)).to.equal(true)
      expect(sidecar.chunkKeys()).to.have.length(1)
    })
  })

  it('reads first after a batch in which most documents existed, and writes first after a batch of new documents', async () => {
    for (const key of ['a', 'b', 'c', 'd']) sidecar.set(key, 'old')
    await createAll(['a', 'b'])
    const saves = sidecar.calls.save
    await createAll(['c', 'd'])
    expect(sidecar.calls.save).to.equal(saves)
    await createAll(['e', 'f'])
    const reads = sidecar.calls.read
    await createAll(['g', 'h'])
    expect(sidecar.calls.read).to.equal(reads)
  })

  it('reads in bulk if operations write nothing', async () => {
    for (const key of ['a', 'b', 'c']) sidecar.set(key, key)
    const get = (key: string) => change({ key, bytes: 10, decide: (view) => view.get(key) })
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(get))).to.deep.equal(['a', 'b', 'c', undefined])
    expect(sidecar.calls.readOne).to.equal(1)
  })
})
