import { expect } from 'chai'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { createArrivalLists } from '../../src/state/arrival-list.ts'
import type { UnitOfWork, View } from '../../src/state/batch.ts'
import { createReader } from '../../src/state/documents.ts'
import { readPage } from '../../src/state/list-page.ts'
import { createUnitOfWork } from '../../src/state/unit-of-work.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'

/**
 * Each test repeats a counterexample that a model in tools/docs/model finds if one of the model's guards is removed. No other test covers this
 * counterexample.
 */
describe('the unit of work and the list, with concurrent steps from the models', () => {
  let sidecar: FakeSidecar
  let clock: number
  beforeEach(() => {
    clock = Date.parse('2026-11-21T10:00:00Z')
  })
  const process = () =>
    createUnitOfWork(
      sidecar,
      createArrivalLists(() => new Date(clock)),
    )
  const add = (change: UnitOfWork, id: string) =>
    change({ key: id, bytes: 10, decide: (view) => view.write({ listed: view.list(id) }) })
  async function listed(): Promise<string[]> {
    const load = async (ids: string[]) =>
      ids.map((id) => {
        const document = sidecar.documents.get(id)?.value as { listed: string } | undefined
        return document && { item: id, listed: document.listed }
      })
    const { items } = await readPage(createReader(sidecar), { cursor: undefined, limit: 100 }, load)
    return items.toSorted()
  }
  /** Leaves a shard idle, so that the next process uses this shard. */
  async function leaveIdleShard(): Promise<void> {
    await add(process(), 'a')
    clock += 60_000
  }
  const lost = () => new SidecarError('save state', new Error('connection lost'))

  for (const type of ['state.postgresql', 'state.mongodb']) {
    describe(`on ${type}`, () => {
      beforeEach(() => {
        sidecar = new FakeSidecar(type)
      })

      it('two processes that begin the same chunk keep all entries (BeginCreateOnly)', async () => {
        await leaveIdleShard()
        const chunks: string[] = []
        const save = sidecar.save.bind(sidecar)
        const begun: (() => void)[] = []
        sidecar.save = async (writes, etag, needed) => {
          // Both processes decide before either process writes.
          if (chunks.push(writes[0]?.key ?? '') <= 2) {
            await new Promise<void>((resolve) => {
              if (begun.push(resolve) === 2) for (const go of begun) go()
            })
          }
          await save(writes, etag, needed)
        }
        await Promise.all([add(process(), 'b'), add(process(), 'c')])
        expect(chunks[0]).to.equal(chunks[1])
        expect(await listed()).to.deep.equal(['a', 'b', 'c'])
      })

      it('a process creates its chunk again if the first write may have failed (KnowBegun)', async () => {
        await leaveIdleShard()
        const save = sidecar.save.bind(sidecar)
        sidecar.save = async () => {
          sidecar.save = save
          throw lost()
        }
        await add(process(), 'b')
        const [first, second] = sidecar.chunkKeys()
        expect(second).to.equal(first?.replace(/0$/, '1'))
        expect(await listed()).to.deep.equal(['a', 'b'])
      })

      it('an entry stays in its chunk if another document of the batch was not saved (ChunkOnlyGrows)', async () => {
        const change = process()
        await add(change, 'a')
        const save = sidecar.save.bind(sidecar)
        sidecar.save = async (writes, etag, needed) => {
          const others = writes.filter(({ key }) => key !== 'c')
          await save(others, etag, needed)
          if (others.length === writes.length) return
          sidecar.save = save
          throw lost()
        }
        await Promise.all([add(change, 'b'), add(change, 'c')])
        expect(await listed()).to.deep.equal(['a', 'b', 'c'])
      })

      it('a process stops using a chunk after an unanswered write, so a late write removes no entries (LeaveUnknown)', async () => {
        const change = process()
        await add(change, 'a')
        const save = sidecar.save.bind(sidecar)
        let late: Parameters<typeof save> = [[], '']
        sidecar.save = async (...call) => {
          sidecar.save = save
          late = call
          throw lost()
        }
        await add(change, 'b')
        await add(change, 'c')
        await save(...late).catch(() => {})
        expect(await listed()).to.deep.equal(['a', 'b', 'c'])
      })

      it('concurrent batches of a process write the process’s chunk one after the other (OneChunkWrite)', async () => {
        const change = process()
        await add(change, 'a')
        const save = sidecar.save.bind(sidecar)
        let land = () => {}
        const arrived = new Promise<void>((resolve) => {
          sidecar.save = async (writes, etag, needed) => {
            sidecar.save = save
            resolve()
            await new Promise<void>((go) => {
              land = go
            })
            await save(writes, etag, needed)
          }
        })
        const first = add(change, 'b')
        await arrived
        const second = add(change, 'c')
        // The second batch has read its documents by now. If it did not wait for the first batch, it would write now.
        for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        land()
        await Promise.all([first, second])
        expect(await listed()).to.deep.equal(['a', 'b', 'c'])
      })

      describe('a batch whose first document another replica has already written', () => {
        /** Runs a batch in which the first operation creates `a`, and the second operation reads `a`. Another replica creates `a` first. */
        async function race(decide: (view: View) => unknown): Promise<PromiseSettledResult<unknown>> {
          const change = process()
          sidecar.beforeWrite = () => {
            sidecar.beforeWrite = () => {}
            sidecar.set('a', 'of another')
          }
          const first = change({ key: 'a', bytes: 10, decide: (view) => void (view.get('a') ?? view.write('ours')) })
          const [, second] = await Promise.allSettled([first, change({ key: 'a', bytes: 10, decide })])
          return second
        }

        it('the batch repeats a later operation that only read this document (RedoLookers)', async () => {
          expect(await race((view) => view.get('a'))).to.deep.equal({ status: 'fulfilled', value: 'of another' })
        })

        it('the batch repeats a later operation that threw an error (RedoThrown)', async () => {
          const second = await race((view) => {
            throw new Error(`not with ${view.get('a')}`)
          })
          expect(second).to.have.nested.property('reason.message', 'not with of another')
        })
      })
    })
  }

  it('a replica that guards each document detects a write of a replica that guards only the fence (CautiousGuards)', async () => {
    sidecar = new FakeSidecar('state.sqlite')
    const [cautious, other] = [process(), process()]
    const increment = (change: UnitOfWork) =>
      change({ key: 'a', bytes: 10, decide: (view) => view.write((view.get<number>('a') ?? 0) + 1) })
    await increment(other)
    sidecar.beforeWrite = () => {
      sidecar.beforeWrite = () => {}
      sidecar.writeElsewhere('z', 1)
    }
    await increment(cautious)
    const transact = sidecar.transact.bind(sidecar)
    sidecar.transact = async (writes) => {
      sidecar.transact = transact
      // The cautious replica has decided. The other replica reads, decides and writes before the decision of the cautious replica is stored.
      await increment(other)
      await transact(writes)
    }
    await increment(cautious)
    expect(sidecar.documents.get('a')?.value).to.equal(4)
  })

  it('a transaction reads the fence before the documents that the fence guards (FenceFirst)', async () => {
    sidecar = new FakeSidecar('state.sqlite')
    const asked: string[][] = []
    const read = sidecar.read.bind(sidecar)
    sidecar.read = (keys) => {
      asked.push(keys)
      return read(keys)
    }
    await process()({ key: 'a', beside: ['b'], bytes: 10, decide: (view) => view.write(1) })
    expect(asked[0]?.[0]).to.equal('fence')
    expect(asked[0]).to.include.members(['a', 'b'])
  })
})
