import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { Clock, handlerIn, logOf, outage } from '../account.ts'
import { bill, minuteMs, passedIn, startBills } from '../bill.ts'

/** Each test repeats a counterexample that tools/docs/model/Deadline.tla finds if one of the model's guards is removed. */
for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`a deadline with concurrent steps from the model, on ${type}`, () => {
    let sidecar: FakeSidecar
    let clock: Clock
    let process: ReturnType<typeof startBills>
    beforeEach(() => {
      ;[sidecar, clock] = [new FakeSidecar(type), new Clock()]
      process = startBills(sidecar, clock)
    })
    const stored = (key: string) => sidecar.documents.get(key)?.value
    const ids = () => passedIn(sidecar).map(({ EntityId }) => EntityId)

    /** Runs `act` before the first write of a matching document. It receives the key. */
    function beforeWriteOf(pattern: RegExp, act: (key: string) => void): void {
      const call = type === 'state.sqlite' ? 'transact' : 'save'
      const next = sidecar[call].bind(sidecar) as (...args: unknown[]) => Promise<void>
      Object.assign(sidecar, {
        async [call](...args: [{ key: string }[], ...unknown[]]) {
          const write = args[0].find(({ key }) => pattern.test(key))
          if (write) {
            Object.assign(sidecar, { [call]: next })
            act(write.key)
          }
          await next(...args)
        },
      })
    }

    it('a process that lost its lane does not write it again (LaneGuarded)', async () => {
      await process.open(60)
      const taken = { by: 'another process', beat: 9, buckets: { 'm:1': [3, 4] } }
      let lane = ''
      beforeWriteOf(/^due\/\d+$/, (key) => {
        lane = key
        sidecar.set(key, taken)
      })
      const id = await process.open(2)
      expect(stored(lane)).to.deep.equal(taken)
      await process.passing(3 * minuteMs)
      expect(ids()).to.deep.equal([id])
    })

    it('a chunk that exists keeps its entries (ChunkCreateOnly)', async () => {
      await process.open(60)
      const entries = [{ key: 'bill/another', name: 'Expiry', at: 5 }]
      let chunk = ''
      beforeWriteOf(/^due\/\d+\/m/, (key) => {
        chunk = key
        sidecar.set(key, entries)
      })
      const id = await process.open(2)
      expect(stored(chunk)).to.deep.equal(entries)
      await process.passing(4 * minuteMs)
      expect(ids()).to.deep.equal([id])
    })

    it('a deadline that ends while it is fired does not pass (Guarded)', async () => {
      const id = await process.open(1)
      const { deadlines, ...rest } = stored(`bill/${id}`) as { deadlines: object; state: object }
      expect(deadlines).to.have.property('Expiry')
      const paid = { ...rest, state: { ...bill.initial, status: 'paid' } }
      let isWritten = false
      beforeWriteOf(/^bill\//, (key) => {
        isWritten = true
        sidecar.writeElsewhere(key, paid)
      })
      await process.passing(3 * minuteMs)
      expect(isWritten).to.equal(true)
      expect(ids()).to.deep.equal([])
      expect(await process.status(id)).to.equal('paid')
    })

    it('a late removal of a chunk leaves a later one, although a batch was not written (NumbersOnce)', async () => {
      await process.open(60)
      let isFirst = true
      sidecar.beforeWrite = () => {
        if (!isFirst) return
        isFirst = false
        if (type === 'state.sqlite') sidecar.set('fence', 'of another process')
        else throw outage()
      }
      await process.open(0)
      const remove = sidecar.remove.bind(sidecar)
      let late: string[] = []
      sidecar.remove = async (keys) => {
        if (late.length > 0) return await remove(keys)
        late = keys
        throw outage()
      }
      for (let turn = 0; turn < 3; turn += 1) {
        clock.pass(1_000)
        await process.fire().catch(() => {})
      }
      expect(ids()).to.have.length(1)
      expect(late).to.not.deep.equal([])
      const id = await process.open(0.5)
      await remove(late)
      await process.passing(3 * minuteMs)
      expect(ids()[1]).to.equal(id)
    })

    async function storeLate(isVisited: boolean): Promise<void> {
      const id = crypto.randomUUID()
      const other = startBills(sidecar, clock)
      const executed = Promise.withResolvers<void>()
      const sent = Promise.withResolvers<void>()
      const call = type === 'state.sqlite' ? 'transact' : 'save'
      const next = sidecar[call].bind(sidecar) as (...args: unknown[]) => Promise<void>
      Object.assign(sidecar, {
        async [call](...args: [{ key: string }[], ...unknown[]]) {
          if (args[0].some(({ key }) => key.startsWith('bill/'))) {
            Object.assign(sidecar, { [call]: next })
            sent.resolve()
            await executed.promise
          }
          await next(...args)
        },
      })
      Promise.race([process.open(0, id), process.killed]).catch(() => {})
      await sent.promise
      process.kill()
      const hasChunks = () => [...sidecar.documents.keys()].some((key) => /^due\/\d+\/m/.test(key))
      for (let second = 0; second < 60; second += 1) {
        clock.pass(1_000)
        await other.fire()
        // Between the removal of the chunk and the next visit of the document.
        if (!hasChunks()) executed.resolve()
        await nextTurn()
        if (isVisited) await other.sweep()
      }
      for (let minute = 0; minute < 5; minute += 1) {
        clock.pass(minuteMs)
        if (isVisited) await other.sweep()
        await other.fire()
      }
      expect(ids()).to.deep.equal((await other.status(id)) === 'open' ? [id] : [])
    }

    it('a document that is stored after its index, by a process that was killed, keeps its deadline (FenceEnded)', () =>
      storeLate(false))

    it('a document that is stored late keeps its deadline if it is visited, too', () => storeLate(true))

    it('a rebuild of a part of the log restores deadlines (RebuildArms)', async () => {
      const id = await process.open(1)
      const rebuilt = new FakeSidecar(type)
      const other = startBills(rebuilt, clock)
      for (const one of logOf(sidecar)) await handlerIn(other.opened.rebuild, one)(one)
      expect(await other.status(id)).to.equal('open')
      await other.passing(3 * minuteMs)
      expect(passedIn(rebuilt).map(({ EntityId }) => EntityId)).to.deep.equal([id])
    })

    it('a process whose lane was taken and left while it was stopped keeps its deadlines', async () => {
      const id = await process.open(4)
      const other = startBills(sidecar, clock)
      for (let look = 0; look < 2; look += 1) {
        await other.fire()
        clock.pass(20_000)
      }
      await other.firing.leave()
      await process.passing(5 * minuteMs)
      expect(ids()).to.deep.equal([id])
    })

    it('a process that loses its lane while it moves a deadline to a narrower bucket keeps the deadline', async () => {
      const id = await process.open(90)
      clock.pass(65 * minuteMs)
      beforeWriteOf(/^due\/\d+\/m/, () => {
        const lane = [...sidecar.documents.keys()].find((key) => /^due\/\d+$/.test(key)) as string
        sidecar.set(lane, { ...(stored(lane) as object), by: 'another process', beat: 9 })
      })
      await process.passing(27 * minuteMs)
      expect(ids()).to.deep.equal([id])
    })

    it('a deadline with an earlier time again passes again', async () => {
      const at = new Date(clock.log).toISOString()
      const deadlines = ({ status }: { status: string }) => (status === 'open' ? { Expiry: at } : {})
      const again = startBills(sidecar, clock, {}, { ...bill, deadlines } as typeof bill)
      const id = await again.open(0)
      await again.passing(minuteMs)
      await again.decide()
      expect(await again.status(id)).to.equal('expired')
      await again.open(0, id)
      await again.passing(minuteMs)
      await again.decide()
      expect(await again.status(id)).to.equal('expired')
      expect(ids()).to.deep.equal([id, id])
    })
  })
}
