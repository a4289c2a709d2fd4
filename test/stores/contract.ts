import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createDocuments, type Documents, SidecarError } from '@orderflow/service-kit'
import type { Write } from '@orderflow/service-kit/operations'
import { eventually } from '@orderflow/stack/base'
import { expect } from 'chai'
import fc from 'fast-check'
import { anyRebuild, rebuiltTwice } from '../support/memory/rebuilt.ts'
import { anyBacklog, handleBacklog, requireSequence } from '../support/memory/sequence.ts'
import type { StoreSidecar } from './store-sidecar.ts'

export interface TestedStore {
  replicas: [StoreSidecar, StoreSidecar]
}

export function storeContract(tested: () => TestedStore): void {
  let one: StoreSidecar
  let other: StoreSidecar
  let prefix: string
  before(() => {
    ;[one, other] = tested().replicas
  })
  beforeEach(() => {
    prefix = `${randomUUID()}/`
  })
  const key = (name: string) => `${prefix}${name}`
  const write = (name: string, value: unknown, guard?: Write['guard']): Write => ({
    key: key(name),
    value: JSON.stringify(value),
    ...(guard && { guard }),
  })
  const stored = async (...names: string[]) => {
    const found = await other.read(names.map(key))
    return names.map((name) => found.get(key(name))?.value)
  }
  const etagOf = async (name: string) => ({ etag: (await one.read([key(name)])).get(key(name))?.etag ?? '' })
  const refused = async (saved: Promise<void>) =>
    saved.then(
      () => false,
      () => true,
    )

  describe('a save to the store', () => {
    it('creates a document only if it is absent', async () => {
      await one.save([write('a', 1, 'absent')], randomUUID())
      expect(await refused(other.save([write('a', 2, 'absent')], randomUUID()))).to.equal(true)
      expect(await stored('a')).to.deep.equal([1])
    })

    it('replaces a document only if it is unchanged', async () => {
      await one.save([write('a', 1)], randomUUID())
      const read = await etagOf('a')
      await one.save([write('a', 2, read)], randomUUID())
      expect(await refused(other.save([write('a', 3, read)], randomUUID()))).to.equal(true)
      expect(await stored('a')).to.deep.equal([2])
    })

    it('reports failure if one of several documents is not written, but writes the other documents', async () => {
      await one.save([write('b', 'old')], randomUUID())
      const writes = [write('a', 1, 'absent'), write('b', 1, 'absent'), write('c', 1, 'absent')]
      expect(await refused(other.save(writes, randomUUID()))).to.equal(true)
      expect(await stored('a', 'b', 'c')).to.deep.equal([1, 'old', 1])
    })

    it('writes either all needed documents or no document, if the caller chooses the etags', async () => {
      await one.save([write('a', 'old')], randomUUID())
      const writes = [write('a', 1, 'absent'), write('b', 1, 'absent'), write('c', 1)]
      expect(await refused(other.save(writes, randomUUID(), 1))).to.equal(true)
      const { choosesEtags } = await one.store()
      expect(await stored('a', 'b', 'c')).to.deep.equal(choosesEtags ? ['old', undefined, undefined] : ['old', 1, 1])
      expect(await refused(other.save(writes.slice(1), randomUUID(), 2))).to.equal(!choosesEtags)
    })

    it('changes the etag of a document even if the content is the same', async () => {
      await one.save([write('a', 1)], randomUUID())
      const before = await etagOf('a')
      await one.save([write('a', 1)], randomUUID())
      expect(await etagOf('a')).not.to.deep.equal(before)
    })

    it('removes documents, whether they exist or not', async () => {
      await one.save([write('a', 1), write('b', 2), write('c', 3)], randomUUID())
      await other.remove(['a', 'c', 'd'].map(key))
      expect(await stored('a', 'b', 'c', 'd')).to.deep.equal([undefined, 2, undefined, undefined])
    })

    it('keeps any text in values and keys unchanged', async () => {
      const texts = ['$set', '$where.a', 'a.b', '\u0000', '"\\', "'; DROP TABLE state; --", '%_', '\u{1f600}', '']
      await one.save(
        texts.map((text, index) => write(`${index}`, { [text]: text, listed: text })),
        randomUUID(),
      )
      const expected = texts.map((text) => ({ [text]: text, listed: text }))
      expect(await stored(...texts.map((_, index) => `${index}`))).to.deep.equal(expected)
    })

    it('stores the documents of a full batch', async () => {
      const large = 'x'.repeat(20_000)
      const names = Array.from({ length: 200 }, (_, index) => `${index}`)
      await one.save(
        names.map((name) => write(name, large, 'absent')),
        randomUUID(),
      )
      expect(await stored(...names)).to.deep.equal(names.map(() => large))
      // Replaces the large documents with small ones, because the MongoDB stand-in reads all documents for each query.
      await one.save(
        names.map((name) => write(name, 'small')),
        randomUUID(),
      )
    })
  })

  describe('records of one key', () => {
    it('take effect in their sequence, although handlers wait and fail, and deliveries are repeated', async () => {
      await fc.assert(
        fc.asyncProperty(anyBacklog, async (backlog) => {
          requireSequence(backlog, await handleBacklog(one, backlog, `${randomUUID()}/`))
        }),
        { numRuns: 10 },
      )
    })
  })

  describe('a rebuild', () => {
    it('makes the same documents and list as on an empty store, whatever was there', async () => {
      await fc.assert(
        fc.asyncProperty(anyRebuild, async (generated) => {
          const { rebuilt, wanted } = await rebuiltTwice(one, generated)
          expect(rebuilt).to.deep.equal(wanted)
        }),
        { numRuns: 5 },
      )
    })
  })

  describe('a unit of work', () => {
    const documentsOf = (sidecar: StoreSidecar) => createDocuments(sidecar, () => new Date())('')
    const add = (documents: Documents, name: string, to = 'set') =>
      documents.change({
        key: key(to),
        bytes: 1_000,
        decide(view) {
          const names = view.get<string[]>(key(to)) ?? []
          if (!names.includes(name)) view.write([...names, name])
        },
      })
    const list = (documents: Documents, name: string) =>
      documents.change({
        key: key(name),
        bytes: 100,
        decide: (view) => void (view.get(key(name)) ?? view.write({ name, listed: view.list(name) })),
      })
    const listedNames = async (documents: Documents) => {
      const names: string[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await documents.page({ cursor: cursor ?? undefined, limit: 100 }, async (ids) => {
          const found = await documents.read(ids.map(key))
          return ids.map((id) => {
            const document = found.get(key(id))?.value as { name: string; listed: string } | undefined
            return document && { item: document.name, listed: document.listed }
          })
        })
        names.push(...page.items)
        cursor = page.next
      }
      return names
    }

    it('keeps all additions that two replicas make to one document at the same time', async () => {
      const replicas = [one, other].map(documentsOf)
      const names = Array.from({ length: 20 }, (_, index) => `${index}`)
      for (const name of names) await Promise.all(replicas.map((each, index) => add(each, `${index}-${name}`)))
      const [set] = await stored('set')
      expect(set).to.have.members(names.flatMap((name) => [`0-${name}`, `1-${name}`]))
    })

    it('runs the changes of each document in the sequence of their calls, although several batches are saved at the same time', async () => {
      const documents = documentsOf(one)
      const sets = Array.from({ length: 30 }, (_, index) => `set ${index}`)
      const names = Array.from({ length: 20 }, (_, index) => `${index}`)
      // The other replica changes the same documents, so saves fail and are repeated.
      const others = sets.map((set) => add(documentsOf(other), 'of another', set))
      await Promise.all([...names.flatMap((name) => sets.map((set) => add(documents, name, set))), ...others])
      for (const set of await stored(...sets)) {
        expect((set as string[]).filter((name) => name !== 'of another')).to.deep.equal(names)
      }
    })

    it('lists each document once, even if two replicas store it at the same time', async () => {
      const replicas = [one, other].map(documentsOf)
      const names = Array.from({ length: 300 }, (_, index) => `${index}`)
      // Both replicas store the same third of the names. Each replica also stores another third.
      const writes = names.flatMap((name, index) =>
        replicas.map((each, at) => (index % 3 === at ? [] : list(each, name))),
      )
      await Promise.all(writes.flat())
      expect((await listedNames(documentsOf(one))).toSorted()).to.deep.equal(names.toSorted())
    })

    it('lets each deadline pass, although one of two replicas ends', async () => {
      const name = `timer-${randomUUID()}`
      // A batch whose documents changed meanwhile may have added its deadlines, too. The document of an entity then decides.
      const passed = new Set<string>()
      const [first, second] = [one, other].map((sidecar) => {
        const documents = createDocuments(sidecar, () => new Date(), false, { time: () => Date.now() })('')
        documents.firing.onDue(name, async ({ key, at }) => {
          expect(at).to.be.at.most(Date.now())
          passed.add(`${key} ${at}`)
          return true
        })
        return documents
      }) as [Documents, Documents]
      const keys = Array.from({ length: 400 }, (_, index) => `${name}/${index}`)
      const arm = (documents: Documents, key: string, at: number) =>
        documents.change({
          ...{ key, bytes: 100, arms: true },
          decide(view) {
            view.write({ at })
            view.arm({ key, name: 'Timer', at })
          },
        })
      await Promise.all(keys.map((key, index) => arm(index % 2 ? first : second, key, Date.now() - index)))
      await first.firing.sweep()
      expect(passed.size).to.equal(200)
      await Promise.all(keys.map((key) => arm(first, key, Date.now() + 500)))
      await first.firing.leave()
      await delay(600)
      await second.firing.sweep()
      await second.firing.sweep()
      expect(passed.size).to.equal(800)
      await second.firing.leave()
    })

    it('keeps and lists every confirmed document although the sidecar is killed several times', async () => {
      const documents = documentsOf(one)
      const answered: string[] = []
      for (let round = 0; round < 3; round += 1) {
        const names = Array.from({ length: 120 }, (_, index) => `${round}-${index}`)
        const works = Promise.allSettled(names.map((name) => list(documents, name).then(() => answered.push(name))))
        await delay(5 + round * 15)
        await one.kill('SIGKILL')
        await works
        await one.start()
        // A caller that gets no answer repeats the request, in the same way as Kafka delivers an unacknowledged event again.
        await Promise.all(names.map((name) => list(documents, name)))
        answered.push(...names)
      }
      // A caller repeats a read to which the sidecar answers with an error. Other errors fail the test.
      const readList = () =>
        listedNames(documents).catch((error) => {
          if (!(error instanceof SidecarError)) throw error
          return undefined
        })
      const listed = await eventually(readList, 'the list')
      expect(listed.toSorted()).to.deep.equal([...new Set(answered)].toSorted())
    })

    it('applies a change once if the answer to its write is late, whether the write has arrived or not', async () => {
      const documents = documentsOf(one)
      await add(documents, 'before')
      await one.suspend(async () => {
        const late = add(documents, 'late').then(
          () => 'done',
          () => 'unknown',
        )
        await add(documentsOf(other), 'meanwhile')
        expect(await late).to.equal('unknown')
      })
      await add(documents, 'late')
      const [set] = await stored('set')
      expect(set).to.have.members(['before', 'late', 'meanwhile'])
    })
  })
}
