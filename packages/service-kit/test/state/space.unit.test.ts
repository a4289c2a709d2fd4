import { expect } from 'chai'
import { shardCount } from '../../src/state/arrival-list.ts'
import type { View } from '../../src/state/batch.ts'
import { createDocuments, type DocumentsOf } from '../../src/state/documents.ts'
import { spaceOf } from '../../src/state/spaces.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

for (const type of ['state.sqlite', 'state.postgresql']) {
  describe(`documents of tenants on ${type}`, () => {
    let sidecar: FakeSidecar
    let documentsOf: DocumentsOf
    beforeEach(() => {
      sidecar = new FakeSidecar(type)
      documentsOf = createDocuments(sidecar, () => new Date())
    })

    const store = (tenant: string, id: string) =>
      documentsOf(tenant).change({
        key: id,
        beside: ['beside'],
        bytes: 10,
        decide(view) {
          const known = view.get<{ of: string }>(id)
          if (!known) view.write({ of: tenant, listed: view.list(id), beside: view.get('beside') })
          return known?.of
        },
      })
    const load = (tenant: string) => async (ids: string[]) => {
      const found = await documentsOf(tenant).read(ids)
      return ids.map((id) => {
        const document = found.get(id)?.value as { of: string; listed: string } | undefined
        return document && { item: `${id} of ${document.of}`, listed: document.listed }
      })
    }
    const page = async (tenant: string, cursor?: string) =>
      documentsOf(tenant).page({ cursor, limit: 100 }, load(tenant))
    const list = async (tenant: string) => (await page(tenant)).items

    it('keeps the documents and lists of tenants separate', async () => {
      await documentsOf('a').change({ key: 'beside', bytes: 1, decide: (view) => view.write('a’s') })
      expect(await Promise.all([store('a', 'x'), store('b', 'x'), store('', 'x'), store('a', 'x')])).to.deep.equal([
        undefined,
        undefined,
        undefined,
        'a',
      ])
      for (const tenant of ['a', 'b', '']) {
        expect(await list(tenant)).to.deep.equal([`x of ${tenant}`])
        const document = (await documentsOf(tenant).read(['x'])).get('x')
        expect(Object(document?.value).beside).to.equal(tenant === 'a' ? 'a’s' : undefined)
      }
      expect(await list('c')).to.deep.equal([])
    })

    it('keeps a separate list for each tenant, even if tenants add documents in turn', async () => {
      const tenants = ['a', 'b', '']
      const ids = Array.from({ length: 200 }, (_, index) => `${index}`)
      for (const id of ids) await Promise.all(tenants.map((tenant) => store(tenant, id)))
      for (const tenant of tenants) {
        expect((await list(tenant)).toSorted()).to.deep.equal(
          ids
            .slice(100)
            .map((id) => `${id} of ${tenant}`)
            .toSorted(),
        )
      }
    })

    it('continues a list that another process began', async () => {
      await store('a', 'first')
      documentsOf = createDocuments(sidecar, () => new Date(Date.now() + 1))
      await store('a', 'second')
      expect(await list('a')).to.deep.equal(['second of a', 'first of a'])
    })

    it('lists all documents in a store that was emptied and then filled by another process', async () => {
      const ids = Array.from({ length: 100 }, (_, index) => `${index}`)
      const process = () => createDocuments(sidecar, () => new Date())
      const add = (documents: DocumentsOf, id: string) => {
        const decide = (view: View) => view.write({ of: 'a', listed: view.list(id) })
        return documents('a').change({ key: id, bytes: 10, decide })
      }
      // Each of these processes uses its own shard. A process that starts later begins a chunk with the same key as a chunk of these processes.
      const processes = Array.from({ length: shardCount }, process)
      for (const [index, documents] of processes.entries()) await add(documents, `old ${index}`)
      sidecar.documents.clear()
      const other = process()
      for (const id of ids) await add(other, id)
      for (const [index, documents] of processes.entries()) await add(documents, `new ${index}`)
      const { items, next } = await page('a')
      const rest = await page('a', next ?? undefined)
      const all = [...ids, ...processes.map((_, index) => `new ${index}`)]
      expect([...items, ...rest.items].toSorted()).to.deep.equal(all.map((id) => `${id} of a`).toSorted())
    })

    it('continues the chunks of the thousand lists that were used last, and begins a new chunk for any other list', async () => {
      const tenants = Array.from({ length: 1_001 }, (_, index) => `tenant ${index}`)
      for (const tenant of tenants.slice(0, 1_000)) await store(tenant, 'x')
      const chunks = () => [...sidecar.documents.keys()].filter((key) => /list\/\d+\/\d+$/.test(key)).length
      await store('tenant 0', 'y')
      expect(chunks()).to.equal(1_000)
      await store('tenant 1000', 'x')
      await store('tenant 0', 'z')
      expect(chunks()).to.equal(1_001)
      // This list has been unused for the longest time.
      await store('tenant 1', 'y')
      expect(chunks()).to.equal(1_002)
      expect(await list('tenant 1')).to.deep.equal(['y of tenant 1', 'x of tenant 1'])
    })

    it('stores and lists documents of tenants with any name', async () => {
      const names = ['a/b', 'a', '/', 'ä'.repeat(256), 'tenant/', '..', '__proto__']
      await Promise.all(names.map((name) => store(name, 'x')))
      for (const name of names) expect(await list(name)).to.deep.equal([`x of ${name}`])
    })

    it('shares documents between all tenants if the service does not separate tenants', async () => {
      documentsOf = createDocuments(sidecar, () => new Date(), true)
      await store('a', 'x')
      expect(await store('b', 'x')).to.equal('a')
      expect(sidecar.documents.has('x')).to.equal(true)
      expect([...sidecar.documents.keys()].some((key) => key.startsWith('tenant/'))).to.equal(false)
    })
  })
}

describe('spaceOf', () => {
  it('returns the same prefix in all versions, because stored documents have this prefix', () => {
    expect(spaceOf('acme')).to.equal('tenant/giszrYfBSKCiClunzV68qmjTahjnqtFlVUkD9SyoJ1c/')
    expect(spaceOf('')).to.equal('')
  })
})
