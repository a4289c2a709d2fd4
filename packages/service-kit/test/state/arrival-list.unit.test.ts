import { expect } from 'chai'
import { createArrivalLists, shardCount } from '../../src/state/arrival-list.ts'
import { createReader } from '../../src/state/documents.ts'
import { CursorError, readPage } from '../../src/state/list-page.ts'
import { createUnitOfWork } from '../../src/state/unit-of-work.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { arrivals, begun } from './arrivals.ts'

for (const type of ['state.sqlite', 'state.postgresql']) {
  describe(`createArrivalLists on ${type}`, () => {
    const tested = arrivals(type)
    const { writer, add, page, all } = tested

    it('lists every entry exactly once, newest first, across all pages', async () => {
      const commit = writer()
      for (let id = 0; id < 150; id += 1) await add(commit, `${id}`)
      expect(await all(7)).to.deep.equal(Array.from({ length: 150 }, (_, index) => `${149 - index}`))
    })

    it('returns an empty page if the list has no entries', async () => {
      expect(await page(10)).to.deep.equal({ items: [], next: null })
    })

    it('continues with the next older chunk if a page ended at the end of a chunk', async () => {
      const commit = writer()
      for (let id = 0; id < 70; id += 1) await add(commit, `${id}`)
      const { items, next } = await page(6)
      expect(items.at(-1)).to.equal('64')
      expect((await page(2, next ?? '')).items).to.deep.equal(['63', '62'])
    })

    it('leaves out an entry whose document is missing', async () => {
      const commit = writer()
      for (const id of ['a', 'b', 'c']) await add(commit, id)
      tested.sidecar.documents.delete('b')
      expect((await page(2)).items).to.deep.equal(['c', 'a'])
    })

    it('fills pages to their limit even if most documents are missing', async () => {
      const commit = writer()
      for (let id = 0; id < 150; id += 1) await add(commit, `${id}`)
      for (let id = 0; id < 150; id += 1) if (id % 5 !== 0) tested.sidecar.documents.delete(`${id}`)
      expect(await all(7)).to.deep.equal(Array.from({ length: 30 }, (_, index) => `${145 - 5 * index}`))
      expect((await page(7)).items).to.have.length(7)
    })

    it('stops reading a shard at a missing chunk, and continues with the other shards', async () => {
      const [one, other] = [writer(), writer()]
      await add(one, 'oldest')
      tested.clock += 1
      await add(other, 'others')
      tested.clock += 1
      for (let id = 0; id < 150; id += 1) await add(one, `${id}`)
      const [first] = tested.sidecar.chunkKeys()
      const [, shard] = first?.split('/') ?? []
      tested.sidecar.documents.delete(`list/${shard}/1`)
      const shown = await all(20)
      expect(shown.slice(0, 2).concat(shown.slice(-2))).to.deep.equal(['149', '148', '127', 'others'])
    })

    it('starts again with an empty list if all chunks are lost', async () => {
      const commit = writer()
      for (let id = 0; id < 150; id += 1) await add(commit, `${id}`)
      for (const key of tested.sidecar.chunkKeys()) tested.sidecar.documents.delete(key)
      expect(await page(1)).to.deep.equal({ items: [], next: null })
      await add(writer(), 'next')
      expect((await page(2)).items).to.deep.equal(['next'])
    })

    it('returns the cursor null with the last page', async () => {
      const commit = writer()
      for (const id of ['a', 'b', 'c', 'd']) await add(commit, id)
      expect(await page(4)).to.deep.equal({ items: ['d', 'c', 'b', 'a'], next: null })
    })

    it('returns the same next page even if new entries arrive between two pages', async () => {
      const commit = writer()
      for (const id of ['a', 'b', 'c', 'd']) await add(commit, id)
      const first = await page(2)
      for (const id of ['e', 'f', 'g']) await add(commit, id)
      expect(first.items).to.deep.equal(['d', 'c'])
      expect((await page(2, first.next ?? '')).items).to.deep.equal(['b', 'a'])
    })

    it('lists an id only at the slot that its document names, even if two writers added the id', async () => {
      const [one, other] = [writer(), writer()]
      await add(one, 'a')
      await add(other, 'b')
      await add(one, 'b')
      expect((await page(10)).items.toSorted()).to.deep.equal(['a', 'b'])
    })

    it('reads a page with the same number of calls, however long the list is', async () => {
      const commit = writer()
      const callsOfPage = async () => {
        const before = tested.sidecar.calls.read
        await page(20)
        return tested.sidecar.calls.read - before
      }
      for (let id = 0; id < 100; id += 1) await add(commit, `${id}`)
      const short = await callsOfPage()
      for (let id = 100; id < 100 + 64 * 64; id += 1) await add(commit, `${id}`)
      expect(await callsOfPage()).to.equal(short)
    })

    it('finds the newest entries even if the stored number of the newest chunk is too low', async () => {
      const commit = writer()
      for (let id = 0; id < 1_000; id += 1) await add(commit, `${id}`)
      for (const [key] of tested.sidecar.documents) if (/^list\/\d+$/.test(key)) tested.sidecar.set(key, 0)
      expect((await page(2)).items).to.deep.equal(['999', '998'])
    })

    it('reads the list even if the stored number of the newest chunk is too high', async () => {
      const commit = writer()
      for (let id = 0; id < 70; id += 1) await add(commit, `${id}`)
      for (const [key] of tested.sidecar.documents) if (/^list\/\d+$/.test(key)) tested.sidecar.set(key, 2)
      expect((await page(2)).items).to.deep.equal(['69', '68'])
    })

    it('creates the list when the first entry is added', async () => {
      const commit = writer()
      await commit({ key: 'x', bytes: 10, decide: (view) => view.write(1) })
      await add(commit, 'a')
      expect((await page(10)).items).to.deep.equal(['a'])
    })

    for (const { chunk, entries } of [
      { chunk: 'incomplete', entries: 150 },
      { chunk: 'full', entries: 128 },
    ]) {
      it(`starts the list again in a store that was emptied when the newest chunk was ${chunk}`, async () => {
        const commit = writer()
        for (let id = 0; id < entries; id += 1) await add(commit, `${id}`)
        tested.sidecar.documents.clear()
        await add(commit, 'b')
        expect(await page(10)).to.deep.equal({ items: ['b'], next: null })
        // The writer began a shard, so the numbers of its chunks start at 0.
        expect(
          [...tested.sidecar.documents].some(([key, { value }]) => /^list\/\d+$/.test(key) && value === 0),
        ).to.equal(true)
      })
    }

    it('leaves other writers’ chunks unchanged in a store that was emptied and filled again', async () => {
      const writers = Array.from({ length: shardCount }, writer)
      for (const [index, commit] of writers.entries()) await add(commit, `old ${index}`)
      tested.sidecar.documents.clear()
      const other = writer()
      for (let id = 0; id < 100; id += 1) await add(other, `rebuilt ${id}`)
      for (const [index, commit] of writers.entries()) await add(commit, `new ${index}`)
      const items = await all(200)
      expect(items.filter((item) => item.startsWith('rebuilt'))).to.have.length(100)
      expect(items).to.have.length(100 + shardCount)
    })

    it('adds new entries at the end of the list after an older copy of the store was restored', async () => {
      const commit = writer()
      for (let id = 0; id < 10; id += 1) await add(commit, `${id}`)
      const earlier = new Map(tested.sidecar.documents)
      for (let id = 10; id < 150; id += 1) await add(commit, `${id}`)
      tested.sidecar.documents.clear()
      for (const [key, document] of earlier) tested.sidecar.documents.set(key, document)
      tested.clock += 1
      await add(commit, 'later')
      expect((await page(2)).items).to.deep.equal(['later', '9'])
    })

    it('refuses an invalid cursor', async () => {
      const encoded = (text: string) => Buffer.from(text).toString('base64url')
      const commit = writer()
      for (const id of ['a', 'b', 'c']) await add(commit, id)
      const own = Buffer.from((await page(1)).next ?? '', 'base64url').toString()
      const [shard] = own.split('.')
      const made = [
        `x${own}`,
        `${own}x`,
        `${own},${own}`,
        '16.0.1',
        `${shard}.7.1`,
        `${shard}.0.0`,
        `${shard}..1`,
        '0.0',
      ].map(encoded)
      for (const cursor of ['', 'x', '../..', ...made]) {
        const error = await page(10, cursor).catch((thrown: unknown) => thrown)
        expect(error, cursor).to.be.instanceOf(CursorError)
        const message = 'is not a cursor of this list; use the `next` of the previous page'
        expect(error).to.include({ name: 'CursorError', code: 'cursor', message })
      }
    })

    it('limits the size of its chunks', async () => {
      const commit = writer()
      for (let id = 0; id < 150; id += 1) await add(commit, `${id}`)
      const lengths = tested.sidecar
        .chunkKeys()
        .map((key) => Object(tested.sidecar.documents.get(key)?.value).ids.length)
      expect(lengths).to.deep.equal([64, 64, 22])
    })

    it('continues the same chunk after a long time without new entries', async () => {
      const commit = writer()
      for (const id of ['a', 'b', 'c']) {
        tested.clock += 60_000
        await add(commit, id)
      }
      const [only, ...others] = tested.sidecar.chunkKeys()
      expect(others).to.deep.equal([])
      const at = [1, 2, 3].map((minutes) => begun + minutes * 60_000)
      expect(tested.sidecar.documents.get(only ?? '')?.value).to.deep.include({ ids: ['a', 'b', 'c'], at })
    })
  })
}

describe('createArrivalLists on a store whose etags the service chooses', () => {
  it('adds entries without reading the list', async () => {
    const sidecar = new FakeSidecar('state.postgresql')
    const commit = createUnitOfWork(
      sidecar,
      createArrivalLists(() => new Date(begun)),
    )
    const add = (id: string) => commit({ key: id, bytes: 10, decide: (view) => view.write({ listed: view.list(id) }) })
    await add('first')
    const { read } = sidecar.calls
    for (let id = 0; id < 150; id += 1) await add(`${id}`)
    expect(sidecar.calls.read).to.equal(read)
    expect(sidecar.chunkKeys()).to.have.length(3)
  })
})

describe('a list with a million entries by eight writers', () => {
  it('needs at most five calls for each page of 100 entries', async () => {
    const sidecar = new FakeSidecar()
    const chunks = 1_000_000 / 64 / 8
    for (let shard = 0; shard < 8; shard += 1) {
      for (let n = 0; n < chunks; n += 1) {
        const at = Array.from({ length: 64 }, (_, index) => begun + 8 * (n * 64 + index) + shard)
        sidecar.set(`list/${shard}/${n}`, { ids: at.map(String), at })
      }
      sidecar.set(`list/${shard}`, Math.ceil(chunks) - 1)
    }
    const readIds = (cursor?: string) =>
      readPage(createReader(sidecar), { limit: 100, cursor }, async (ids) =>
        ids.map((id) => ({ item: Number(id), listed: slotAt(Number(id) - begun) })),
      )
    const slotAt = (entry: number) => {
      const place = Math.floor(entry / 8)
      return `${entry % 8}:${Math.floor(place / 64)}:${place % 64}`
    }
    const newest = begun + 8 * 64 * Math.ceil(chunks) - 1
    let next: string | undefined
    for (let page = 0; page < 50; page += 1) {
      const before = sidecar.calls.read
      const read = await readIds(next)
      expect(sidecar.calls.read - before).to.be.at.most(5)
      expect(read.items).to.deep.equal(Array.from({ length: 100 }, (_, index) => newest - page * 100 - index))
      next = read.next ?? ''
    }
  })
})
