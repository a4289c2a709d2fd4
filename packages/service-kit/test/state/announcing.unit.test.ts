import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { SidecarError, type StoredDocument, type Write } from '../../src/sidecar/sidecar.ts'
import { createAnnouncing } from '../../src/state/announcing.ts'
import { createDocuments } from '../../src/state/documents.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

/** A sidecar whose answers arrive late, and in another sequence than its calls. */
class SlowSidecar extends FakeSidecar {
  #calls = 0

  override async read(keys: string[]) {
    const found = await super.read(keys)
    await this.#wait()
    return found
  }
  override async transact(...args: Parameters<FakeSidecar['transact']>) {
    await super.transact(...args)
    await this.#wait()
  }
  override async save(...args: Parameters<FakeSidecar['save']>) {
    // A failed guard is thrown after the wait, too.
    const result = super.save(...args)
    await Promise.allSettled([result])
    await this.#wait()
    await result
  }

  async #wait(): Promise<void> {
    this.#calls += 1
    for (let turns = (this.#calls * 7) % 11; turns > 0; turns -= 1) await turn()
  }
}

const isRegister = (key: string): boolean => key.startsWith('announcing/')
const registersIn = ({ documents }: FakeSidecar): string[] => [...documents.keys()].filter(isRegister)
const lost = () => new SidecarError('save state', new Error('no answer'))

/** Starts a process that stores documents with events. `save` returns the mark of the event. */
function start(sidecar: FakeSidecar) {
  const { change } = createDocuments(sidecar, () => new Date(0))('')
  return {
    save: (key: string) =>
      change({
        ...{ key, bytes: 10, announces: true },
        decide(view) {
          const listed = view.get<{ listed: string }>(key)?.listed ?? view.list(key)
          view.write({ listed, value: Math.random() })
          return view.mark()
        },
      }),
  }
}

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`the register of a process, on ${type}`, () => {
    it('stays the same during overlapping batches with late answers', async () => {
      const sidecar = new SlowSidecar(type)
      const { save } = start(sidecar)
      const saves: Promise<string>[] = []
      for (let index = 0; index < 200; index += 1) {
        saves.push(save(`account/${index}`))
        await turn()
      }
      const marks = new Set(await Promise.all(saves))
      expect(marks.size).to.equal(1)
      expect(registersIn(sidecar)).to.have.length(1)
    })

    it('stays the same after conflicts with another process', async () => {
      const sidecar = new SlowSidecar(type)
      const processes = [start(sidecar), start(sidecar)]
      for (const { save } of processes) await save('account/0')
      const saves: Promise<string>[] = []
      for (let index = 0; index < 200; index += 1) {
        for (const { save } of processes) {
          const saved = save(`account/${index % 10}`)
          saved.catch(() => {})
          saves.push(saved)
        }
        for (let turns = 0; turns < 5; turns += 1) await turn()
      }
      // Some saves fail after many conflicts, because the processes do not pause between two attempts.
      const results = await Promise.allSettled(saves)
      expect(results.filter(({ status }) => status === 'fulfilled')).to.have.length.above(200)
      expect(registersIn(sidecar)).to.have.length.at.most(2)
    })

    it('stays the same if the store refuses its write because another process began the next chunk of the list', async () => {
      const sidecar = new FakeSidecar(type)
      const { save } = start(sidecar)
      const marks = await Promise.all(Array.from({ length: 64 }, (_, index) => save(`account/${index}`)))
      const next = sidecar.chunkKeys()[0]?.replace(/0$/, '1') as string
      sidecar.beforeWrite = () => {
        sidecar.beforeWrite = () => {}
        sidecar.writeElsewhere(next, { by: 'another process', ids: ['x'], at: [1] })
      }
      expect(await save('account/64')).to.equal(marks[0])
      expect(registersIn(sidecar)).to.have.length(1)
    })

    it('becomes another one after a write of the register whose outcome is unknown', async () => {
      const sidecar = new FakeSidecar(type)
      const { save } = start(sidecar)
      const mark = await save('account/1')
      const call = type === 'state.sqlite' ? 'transact' : 'save'
      sidecar.failures[call].push(lost())
      await save('account/2').catch(() => {})
      const next = await save('account/2')
      const byIn = (one: string) => one.split(':')[2]
      expect(byIn(next)).not.to.equal(byIn(mark))
    })
  })
}

describe('the writer of a register', () => {
  const unused = { read: async () => new Map(), replace: async () => {}, flush: async () => {}, report() {} }

  for (const [what, has] of [
    ['has an older etag', true],
    ['lacks the register', false],
  ] as const) {
    it(`keeps its register, and uses the newest etag, if a read is older than its last write and ${what}`, async () => {
      const { writer } = createAnnouncing(unused)
      const stored = new Map<string, StoredDocument>()
      let etag = 0
      /** Writes the register as a batch does. Returns its mark and the guard of its write. */
      async function write() {
        await writer.open(async (keys) => new Map([...stored].filter(([key]) => keys.includes(key))))
        const draft = writer.draft()
        const mark = draft.mark()
        const [{ key, value, guard }] = draft.writes() as [Write]
        etag += 1
        stored.set(key, { value: JSON.parse(value), etag: `etag ${etag}` })
        draft.stored()
        return { mark, guard }
      }
      const { mark } = await write()
      const watched = writer.watched()
      const read = has ? new Map(stored) : new Map()
      expect(watched.keys).to.deep.equal([...stored.keys()])
      await write()
      watched.check(read)
      expect(await write()).to.deep.equal({ mark, guard: { etag: 'etag 2' } })
      expect(stored.size).to.equal(1)
    })
  }

  it('leaves its register if another process has taken it', async () => {
    const { writer } = createAnnouncing(unused)
    const byIn = () => writer.draft().mark().split(':')[2]
    await writer.open(async () => new Map())
    const draft = writer.draft()
    draft.mark()
    const [{ key }] = draft.writes() as [Write]
    draft.stored()
    const by = byIn()
    const taken = new Map([[key, { value: { epoch: 2, by: 'another process', beat: 1, keys: [] }, etag: '1' }]])
    await writer.open(async () => taken)
    expect(byIn()).not.to.equal(by)
  })
})
