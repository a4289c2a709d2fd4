import { expect } from 'chai'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { chunkKey, createArrivalList, listRootKey } from '../../src/state/arrival-list.ts'
import { CursorError, readPage } from '../../src/state/list-page.ts'
import { createUnitOfWork, type UnitOfWork } from '../../src/state/unit-of-work.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

let clock = 0
const now = () => new Date(clock)

describe('list of arrivals', () => {
  let sidecar: FakeSidecar
  beforeEach(() => {
    clock = 0
    sidecar = new FakeSidecar()
  })

  const writer = () => createUnitOfWork(sidecar, createArrivalList(now))
  const add = (commit: UnitOfWork, id: string) =>
    commit({ keys: [id], bytes: 10, decide: (view) => view.write(id, { listed: view.list(id) }) })
  const page = (limit: number, cursor?: string) =>
    readPage(
      (keys) => sidecar.read(keys),
      { limit, cursor },
      async (ids) =>
        ids.map((id) => {
          const document = sidecar.documents.get(id)?.value as { listed: string } | undefined
          return document && { item: id, listed: document.listed }
        }),
    )

  it('pages through everything, newest first, each once', async () => {
    const commit = writer()
    for (let id = 0; id < 150; id += 1) await add(commit, `${id}`)
    const seen: string[] = []
    let next: string | null | undefined
    do {
      const { items, next: cursor } = await page(7, next ?? undefined)
      expect(items.length).to.be.at.most(7)
      seen.push(...items)
      next = cursor
    } while (next)
    expect(seen).to.deep.equal(Array.from({ length: 150 }, (_, index) => `${149 - index}`))
  })

  it('is empty before anything arrived', async () => {
    expect(await page(10)).to.deep.equal({ items: [], next: null })
  })

  it('ends with a null cursor exactly at the oldest entry', async () => {
    const commit = writer()
    for (const id of ['a', 'b', 'c', 'd']) await add(commit, id)
    expect(await page(4)).to.deep.equal({ items: ['d', 'c', 'b', 'a'], next: null })
  })

  it('keeps pages stable while new entries arrive', async () => {
    const commit = writer()
    for (const id of ['a', 'b', 'c', 'd']) await add(commit, id)
    const first = await page(2)
    for (const id of ['e', 'f', 'g']) await add(commit, id)
    expect(first.items).to.deep.equal(['d', 'c'])
    expect((await page(2, first.next ?? '')).items).to.deep.equal(['b', 'a'])
  })

  it('shows an id once that two writers listed at the same time, at its last place', async () => {
    const [one, other] = [writer(), writer()]
    await add(one, 'a')
    await add(other, 'b')
    await add(one, 'b')
    expect((await page(10)).items.toSorted()).to.deep.equal(['a', 'b'])
  })

  it('begins a new chunk on top once another writer has begun a newer one and a second has passed', async () => {
    const [one, other] = [writer(), writer()]
    await add(one, 'a')
    await add(other, 'b')
    clock = 5_000
    await add(one, 'c')
    expect((await page(10)).items).to.deep.equal(['c', 'b', 'a'])
  })

  it('loses no entry when two writers begin a chunk at the same time', async () => {
    const [one, other] = [writer(), writer()]
    await Promise.all([add(one, 'a'), add(other, 'b')])
    expect((await page(10)).items.toSorted()).to.deep.equal(['a', 'b'])
  })

  it('loses no entry when the outcome of a write is unknown', async () => {
    const commit = writer()
    await add(commit, 'a')
    const transact = sidecar.transact.bind(sidecar)
    sidecar.transact = async (writes) => {
      sidecar.transact = transact
      await transact(writes)
      throw new SidecarError('write state', new Error('connection lost after the commit'))
    }
    await add(commit, 'b').catch(() => {})
    await add(commit, 'c')
    expect((await page(10)).items).to.deep.equal(['c', 'b', 'a'])
  })

  it('refuses a cursor that is not its own', async () => {
    const foreign = (slot: string) => Buffer.from(`${crypto.randomUUID()}:${slot}`).toString('base64url')
    for (const cursor of ['', 'x', '../..', foreign('3'), foreign('')]) {
      const error = await page(10, cursor).catch((thrown: unknown) => thrown)
      expect(error, cursor).to.be.instanceOf(CursorError)
    }
  })

  it('keeps its chunks small', async () => {
    const commit = writer()
    for (let id = 0; id < 150; id += 1) await add(commit, `${id}`)
    const root = sidecar.documents.get(listRootKey)?.value as { newest: string }
    const chunk = sidecar.documents.get(chunkKey(root.newest))?.value as { ids: string[] }
    expect(chunk.ids).to.have.length(150 - 2 * 64)
  })

  it('goes on with its chunk for as long as nobody else writes', async () => {
    const commit = writer()
    for (const id of ['a', 'b', 'c']) {
      clock += 60_000
      await add(commit, id)
    }
    const root = sidecar.documents.get(listRootKey)?.value as { newest: string }
    expect(sidecar.documents.get(chunkKey(root.newest))?.value).to.deep.equal({ ids: ['a', 'b', 'c'] })
  })
})
