import { expect } from 'chai'
import { createDocuments, type Documents } from '../../src/state/documents.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

describe('createDocuments', () => {
  let sidecar: FakeSidecar
  let documents: Documents
  beforeEach(() => {
    sidecar = new FakeSidecar()
    documents = createDocuments(sidecar, () => new Date())('')
  })

  it('reads the documents of concurrent callers in one call, and returns to each caller its own documents', async () => {
    for (const key of ['a', 'b', 'c']) sidecar.set(key, `value of ${key}`)
    const asked: string[][] = []
    const read = sidecar.read.bind(sidecar)
    sidecar.read = (keys) => {
      asked.push(keys)
      return read(keys)
    }
    const answers = await Promise.all([documents.read(['a', 'b', 'nothing']), documents.read(['b', 'c'])])
    expect(asked).to.deep.equal([['a', 'b', 'nothing', 'c']])
    const values = answers.map((found) => [...found].map(([key, { value }]) => [key, value]))
    expect(values).to.deep.equal([
      [
        ['a', 'value of a'],
        ['b', 'value of b'],
      ],
      [
        ['b', 'value of b'],
        ['c', 'value of c'],
      ],
    ])
  })

  it('reads a document with a separate call if a bulk read leaves out the document', async () => {
    for (const key of ['a', 'b']) sidecar.set(key, key)
    sidecar.overlooked.add('b')
    const [one, both] = await Promise.all([documents.read(['b', 'nothing']), documents.read(['a', 'b'])])
    expect([...one.keys()]).to.deep.equal(['b'])
    expect([...both.keys()]).to.deep.equal(['a', 'b'])
    expect(sidecar.calls.readOne).to.equal(3)
  })

  it('fails a read if it cannot confirm that a document is absent', async () => {
    sidecar.failures.readOne.push(new Error('connection lost'))
    const answers = await Promise.allSettled([documents.read(['a']), documents.read(['b'])])
    expect(answers.map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled'])
    expect(answers[0]).to.have.nested.property('reason.message', 'connection lost')
  })

  it('reads at most 2,000 keys in one call', async () => {
    const keys = (from: number) => Array.from({ length: 1_000 }, (_, index) => `${from + index}`)
    await Promise.all([0, 1_000, 2_000].map((from) => documents.read(keys(from))))
    expect(sidecar.calls.read).to.equal(2)
  })

  const store = (id: string) =>
    documents.change({
      key: id,
      bytes: 10,
      decide: (view) => view.write({ listed: view.list(id), name: `name of ${id}` }),
    })
  const load = async (ids: string[]) => {
    const found = await documents.read(ids)
    return ids.map((id) => {
      const document = found.get(id)?.value as { listed: string; name: string } | undefined
      return document && { item: document.name, listed: document.listed }
    })
  }

  it('returns pages of the listed documents, newest arrival first', async () => {
    for (const id of ['a', 'b', 'c']) await store(id)
    const first = await documents.page({ cursor: undefined, limit: 2 }, load)
    expect(first.items).to.deep.equal(['name of c', 'name of b'])
    const second = await documents.page({ cursor: first.next ?? '', limit: 2 }, load)
    expect(second).to.deep.equal({ items: ['name of a'], next: null })
  })

  it('lists documents that a bulk read leaves out', async () => {
    for (const id of ['a', 'b', 'c']) await store(id)
    sidecar.overlooked.add('b')
    const { items } = await documents.page({ cursor: undefined, limit: 3 }, load)
    expect(items).to.deep.equal(['name of c', 'name of b', 'name of a'])
  })
})
