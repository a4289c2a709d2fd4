import { randomUUID } from 'node:crypto'
import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { Clock, type Faults, handlerIn, Killed, logOf } from './account.ts'
import { bill, minuteMs, passedIn, startBills } from './bill.ts'

/** A later release, whose bills expire 20 minutes earlier. */
const earlier = {
  ...bill,
  deadlines: ({ status, due }: typeof bill.initial) =>
    status === 'open' && due ? { Expiry: new Date(Date.parse(due) - 20 * minuteMs) } : {},
} as typeof bill

/** A later release, whose bills do not expire. */
const without = { ...bill, deadlines: () => ({}) } as typeof bill

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`stored entities of a release with other deadlines, on ${type}`, () => {
    let [sidecar, clock] = [new FakeSidecar(type), new Clock()]
    beforeEach(() => {
      ;[sidecar, clock] = [new FakeSidecar(type), new Clock()]
    })
    const start = (definition = bill, faults: Faults = {}) => startBills(sidecar, clock, faults, definition)
    const stored = (id: string) => sidecar.documents.get(`bill/${id}`)
    const deadlinesOf = (id: string) => (stored(id)?.value as { deadlines?: object } | undefined)?.deadlines
    const inMinutes = (minutes: number) => new Date(clock.log + minutes * minuteMs).toISOString()

    /** Changes the deadlines of all bills, as the command does. Returns the number of events whose bill changed. */
    async function retime({ opened }: ReturnType<typeof start>): Promise<number> {
      const results = await Promise.all(logOf(sidecar).map((event) => handlerIn(opened.retime, event)(event)))
      return results.filter(Boolean).length
    }

    it('keep them until their next change, and get the present ones at once by the command, which decides nothing', async () => {
      const id = await start().open(30)
      const tenant = { id: 'acme', userId: 'ada' }
      const other = await start().open(60, randomUUID(), tenant)
      const process = start(earlier)
      await process.passing(11 * minuteMs)
      expect(passedIn(sidecar)).to.deep.equal([])
      const before = logOf(sidecar)
      expect(await retime(process)).to.equal(2)
      expect(logOf(sidecar)).to.deep.equal(before)
      expect(await process.status(id)).to.equal('open')
      await process.passing(2_000, 1_000)
      expect(passedIn(sidecar).map(({ EntityId }) => EntityId)).to.deep.equal([id])
      await process.decide()
      expect(await process.status(id)).to.equal('expired')
      await process.passing(30 * minuteMs)
      expect(passedIn(sidecar).map(({ EntityId }) => EntityId)).to.deep.equal([id, other])
      await process.decide()
      expect(await process.status(other, tenant)).to.equal('expired')
    })

    it('do not pass by their former ones after the command', async () => {
      const id = await start().open(30)
      const process = start(without)
      expect(await retime(process)).to.equal(1)
      expect(deadlinesOf(id)).to.equal(undefined)
      await process.passing(40 * minuteMs)
      expect(passedIn(sidecar)).to.deep.equal([])
    })

    it('get deadlines if the former release had none', async () => {
      const former = start(without)
      const id = await former.open(30)
      await former.passing(minuteMs)
      const process = start()
      expect(await retime(process)).to.equal(1)
      expect(deadlinesOf(id)).to.deep.equal({ Expiry: { at: inMinutes(29) } })
      await process.passing(31 * minuteMs)
      expect(passedIn(sidecar).map(({ EntityId }) => EntityId)).to.deep.equal([id])
    })

    it('stay unchanged if they have them already, and a passed one passes only once', async () => {
      const process = start()
      const ids = [await process.open(1), await process.open(30), await process.open(30)]
      await process.pay(ids[2] as string)
      await process.passing(2 * minuteMs)
      const etags = ids.map((id) => stored(id)?.etag)
      expect(await retime(start())).to.equal(0)
      expect(ids.map((id) => stored(id)?.etag)).to.deep.equal(etags)
      await process.passing(2 * minuteMs)
      expect(passedIn(sidecar)).to.have.length(1)
    })

    it('get those of their new state if a replica changes them at the same time', async () => {
      const id = await start().open(30)
      const process = start(earlier)
      let isFirst = true
      const read = sidecar.read.bind(sidecar)
      sidecar.read = async (keys) => {
        const found = await read(keys)
        if (isFirst && keys.includes(`bill/${id}`)) {
          isFirst = false
          await start().pay(id)
        }
        return found
      }
      await retime(process)
      expect(isFirst).to.equal(false)
      expect(await process.status(id)).to.equal('paid')
      expect(deadlinesOf(id)).to.equal(undefined)
      await process.passing(40 * minuteMs)
      expect(passedIn(sidecar)).to.deep.equal([])
    })

    it('stay unchanged if they lack a state, and keep events that a rebuild holds back', async () => {
      const ids = [await start().open(30), await start().open(30), await start().open(30)]
      const [lost, visited, incomplete] = ids as [string, string, string]
      sidecar.documents.delete(`bill/${lost}`)
      sidecar.set(`bill/${visited}`, { visits: 1 })
      const held = logOf(sidecar).filter(({ Payload }) => (Payload as { PaymentId: string }).PaymentId === incomplete)
      sidecar.set(`bill/${incomplete}`, { state: bill.initial, held })
      const always = { ...bill, deadlines: () => ({ Expiry: inMinutes(5) }) } as typeof bill
      expect(await retime(start(always))).to.equal(1)
      expect(stored(lost)).to.equal(undefined)
      expect(stored(visited)?.value).to.deep.equal({ visits: 1 })
      expect(stored(incomplete)?.value).to.deep.equal({
        ...{ state: bill.initial, held },
        deadlines: { Expiry: { at: inMinutes(5) } },
      })
    })

    it('get them by a repetition, whichever call was the last one of the command', async () => {
      for (const isAfter of [false, true]) {
        for (let killAt = 1; ; killAt += 1) {
          ;[sidecar, clock] = [new FakeSidecar(type), new Clock()]
          const running = start()
          const ids = await Promise.all([30, 31, 32].map((minutes) => running.open(minutes)))
          await running.passing(minuteMs)
          const command = start(earlier, { killAt, isAfter })
          const outcome = await Promise.race([retime(command), command.killed]).catch((error: unknown) => error)
          if (!(outcome instanceof Killed)) break
          running.kill()
          const again = start(earlier)
          await retime(again)
          await again.firing.leave()
          for (const [index, id] of ids.entries())
            expect(deadlinesOf(id)).to.deep.equal({ Expiry: { at: inMinutes(9 + index) } })
          const next = start(earlier)
          await next.passing(15 * minuteMs)
          expect(passedIn(sidecar).map(({ EntityId }) => EntityId)).to.have.members(ids)
          await next.decide()
          for (const id of ids) expect(await next.status(id, noTenant)).to.equal('expired')
        }
      }
    })
  })
}
