import { expect } from 'chai'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { chunkKey, createArrivalList, listRootKey } from '../../src/state/arrival-list.ts'
import { CursorError, readPage } from '../../src/state/list-page.ts'
import { createUnitOfWork, type UnitOfWork } from '../../src/state/unit-of-work.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

const begun = Date.parse('2026-11-21T10:00:00Z')
let clock = begun
const now = () => new Date(clock)

describe('list of arrivals', () => {
  let sidecar: FakeSidecar
  beforeEach(() => {
    clock = begun
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

  it('goes on with the next older chunk after a page that ends with one', async () => {
    const commit = writer()
    for (let id = 0; id < 70; id += 1) await add(commit, `${id}`)
    const { items, next } = await page(6)
    expect(items.at(-1)).to.equal('64')
    expect((await page(2, next ?? '')).items).to.deep.equal(['63', '62'])
  })

  it('leaves out an entry whose document is gone', async () => {
    const commit = writer()
    for (const id of ['a', 'b', 'c']) await add(commit, id)
    sidecar.documents.delete('b')
    expect((await page(2)).items).to.deep.equal(['c', 'a'])
  })

  for (const lost of ['newest', 'oldest'] as const) {
    it(`says so when its ${lost} chunk is lost, which is no fault of whoever reads`, async () => {
      const commit = writer()
      for (let id = 0; id < 70; id += 1) await add(commit, `${id}`)
      const chunks = [...sidecar.documents.keys()].filter((key) => /^list\/.{36}$/.test(key))
      const key = lost === 'newest' ? chunks[1] : chunks[0]
      sidecar.documents.delete(key ?? '')
      const error = await page(70).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(Error).and.not.instanceOf(CursorError)
      expect(error).to.have.property('message', `list chunk ${key?.slice('list/'.length)} is missing`)
    })
  }

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
    clock = begun + 1_000
    await add(one, 'c')
    expect((await page(10)).items).to.deep.equal(['c', 'b', 'a'])
  })

  it('goes on with its chunk until a second has passed, below the newer one of another writer', async () => {
    const [one, other] = [writer(), writer()]
    await add(one, 'a')
    await add(other, 'b')
    clock = begun + 999
    await add(one, 'c')
    expect((await page(10)).items).to.deep.equal(['b', 'c', 'a'])
    clock = begun + 1_000
    await add(one, 'd')
    expect((await page(10)).items).to.deep.equal(['d', 'b', 'c', 'a'])
  })

  it('begins with the first entry, not with a transaction that lists none', async () => {
    const commit = writer()
    await commit({ keys: ['x'], bytes: 10, decide: (view) => view.write('x', 1) })
    await add(commit, 'a')
    expect((await page(10)).items).to.deep.equal(['a'])
  })

  it('begins anew in a store that was emptied', async () => {
    const commit = writer()
    await add(commit, 'a')
    sidecar.documents.clear()
    clock = begun + 1_000
    await add(commit, 'b')
    expect(await page(10)).to.deep.equal({ items: ['b'], next: null })
  })

  it('guards the root alone, which is all that writers share', () => {
    const list = createArrivalList(now)
    const first = list.draft(undefined)
    const [name] = first.append('a').split(':')
    const chunk = { key: `list/${name}`, value: { ids: ['a'], older: undefined }, guarded: false }
    expect(first.documents()).to.deep.equal([chunk, { key: 'list/root', value: { newest: name }, guarded: true }])
    first.written()
    const second = list.draft({ newest: name })
    second.append('b')
    expect(second.documents()).to.deep.equal([{ ...chunk, value: { ids: ['a', 'b'], older: undefined } }])
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
    const commit = writer()
    for (const id of ['a', 'b', 'c']) await add(commit, id)
    const own = Buffer.from((await page(1)).next ?? '', 'base64url').toString()
    const around = [`x${own}`, `${own}x`].map((text) => Buffer.from(text).toString('base64url'))
    for (const cursor of ['', 'x', '../..', foreign('3'), foreign(''), ...around]) {
      const error = await page(10, cursor).catch((thrown: unknown) => thrown)
      expect(error, cursor).to.be.instanceOf(CursorError)
      const message = 'is not a cursor of this list; take `next` of the page before'
      expect(error).to.include({ name: 'CursorError', code: 'cursor', message })
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
