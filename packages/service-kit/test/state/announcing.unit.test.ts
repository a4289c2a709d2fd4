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
/** A process uses so many registers in turn. */
const inTurn = 4
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
  describe(`the registers of a process, on ${type}`, () => {
    it('stay the same during overlapping batches with late answers', async () => {
      const sidecar = new SlowSidecar(type)
      const { save } = start(sidecar)
      const saves: Promise<string>[] = []
      for (let index = 0; index < 200; index += 1) {
        saves.push(save(`account/${index}`))
        await turn()
      }
      const marks = new Set(await Promise.all(saves))
      expect(marks.size).to.equal(inTurn)
      expect(registersIn(sidecar)).to.have.length(inTurn)
    })

    it('stay the same after conflicts with another process', async () => {
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
      expect(registersIn(sidecar)).to.have.length.at.most(2 * inTurn)
    })

    it('stay the same if the store refuses a write because another process began the next chunk of the list', async () => {
      const sidecar = new FakeSidecar(type)
      const { save } = start(sidecar)
      const marks = new Set<string>()
      for (let index = 0; index < 64; index += 1) marks.add(await save(`account/${index}`))
      const next = sidecar.chunkKeys()[0]?.replace(/0$/, '1') as string
      sidecar.beforeWrite = () => {
        sidecar.beforeWrite = () => {}
        sidecar.writeElsewhere(next, { by: 'another process', ids: ['x'], at: [1] })
      }
      expect([...marks]).to.include(await save('account/64'))
      expect(registersIn(sidecar)).to.have.length(inTurn)
    })

    it('become others after a write with an unknown outcome', async () => {
      const sidecar = new FakeSidecar(type)
      const { save } = start(sidecar)
      const used = async (name: string) => {
        const marks: string[] = []
        for (let index = 0; index < inTurn; index += 1) marks.push(await save(`account/${name} ${index}`))
        return marks
      }
      const marks = await used('before')
      const call = type === 'state.sqlite' ? 'transact' : 'save'
      sidecar.failures[call].push(lost())
      await save('account/lost').catch(() => {})
      expect(await used('after'))
        .to.include.members(marks.slice(1))
        .and.not.to.include(marks[0])
    })
  })
}

describe('the writer of the registers', () => {
  const unused = { read: async () => new Map(), replace: async () => {}, flush: async () => {}, report() {} }

  /** Returns a function that writes the next register, as a batch does, and returns its mark and the guard of its write. */
  function startWriter() {
    const { writer } = createAnnouncing(unused)
    const stored = new Map<string, StoredDocument>()
    let etag = 0
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
    async function writeAll() {
      const marks: string[] = []
      for (let turn = 0; turn < inTurn; turn += 1) marks.push((await write()).mark)
      return marks
    }
    return { writer, stored, write, writeAll }
  }

  for (const [what, has] of [
    ['has older etags', true],
    ['lacks the registers', false],
  ] as const) {
    it(`keeps the registers, and uses the newest etags, if a read is older than the last writes and ${what}`, async () => {
      const { writer, stored, write, writeAll } = startWriter()
      const marks = await writeAll()
      const watched = writer.watched(false)
      const read = has ? new Map(stored) : new Map()
      expect(watched.keys).to.have.members([...stored.keys()])
      expect(await writeAll()).to.deep.equal(marks)
      watched.check(read)
      expect(await write()).to.deep.equal({ mark: marks[0], guard: { etag: `etag ${inTurn + 1}` } })
      expect(stored.size).to.equal(inTurn)
    })
  }

  it('reads only the register of the next batch if batches run in sequence', async () => {
    const { writer, stored, writeAll } = startWriter()
    await writeAll()
    expect(writer.watched(true).keys).to.deep.equal([...stored.keys()].slice(0, 1))
  })

  it('uses only one register if most registers are in use', async () => {
    const { stored, writeAll } = startWriter()
    for (let register = 0; register < 32; register += 1)
      stored.set(`announcing/${register}`, {
        value: { epoch: 1, by: 'another', beat: 1, keys: ['account/1'] },
        etag: '1',
      })
    expect(new Set(await writeAll()).size).to.equal(1)
  })

  it('lists the documents whose events wait, and not those whose events are announced', async () => {
    const { writer, begin, note, announced } = createAnnouncing(unused)
    const lists: string[][] = []
    for (let index = 0; index < 2 * inTurn; index += 1) {
      const [key, slow] = [`account/${index}`, 'account/slow']
      const [end] = [begin(key, true), begin(slow, true)]
      await writer.open(async () => new Map())
      const draft = writer.draft()
      const mark = draft.mark()
      note(key, { event: { Id: `${index}` }, mark })
      if (index === 0) note(slow, { event: { Id: 'slow' }, mark })
      const [{ value }] = draft.writes() as [Write]
      lists.push((JSON.parse(value) as { keys: string[] }).keys)
      draft.stored('etag')
      announced(key, [{ Id: `${index}` }])
      end()
    }
    const slow = (index: number) => (index % inTurn === 0 ? ['account/slow'] : [])
    expect(lists.map((keys) => keys.toSorted())).to.deep.equal(
      lists.map((_, index) => [`account/${index}`, ...slow(index)]),
    )
  })

  it('leaves a register that another process has taken', async () => {
    const { stored, writeAll } = startWriter()
    const marks = await writeAll()
    const [key = ''] = stored.keys()
    stored.set(key, { value: { epoch: 2, by: 'another process', beat: 1, keys: [] }, etag: '1' })
    expect(await writeAll())
      .to.include.members(marks.slice(1))
      .and.not.to.include(marks[0])
  })
})
