import { expect } from 'chai'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { Clock } from './account.ts'
import { minuteMs, passedIn, startBills } from './bill.ts'

const wrongMs = 5 * minuteMs

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`deadlines of services with wrong clocks, on ${type}`, () => {
    let [sidecar, clock] = [new FakeSidecar(type), new Clock()]
    beforeEach(() => {
      ;[sidecar, clock] = [new FakeSidecar(type), new Clock()]
    })

    // NServiceBus.SqlServer#463, apache/pulsar#25310: early, because the clocks of sender and database differed.
    for (const [what, skews, jumpMs] of [
      ['one clock is five minutes ahead, and one behind', [wrongMs, -wrongMs], 0],
      ['both clocks jump by five minutes, forward and back', [0, 0], wrongMs],
      ['wrong clocks jump', [wrongMs, -wrongMs], wrongMs],
    ] as const)
      it(`pass once, never early and at most a few seconds late, although ${what}`, async () => {
        const processes = skews.map((skewMs) => startBills(sidecar, clock, { skewMs }))
        const minutes = Array.from({ length: 20 }, (_, index) => 1 + index * 3.4)
        const ids = await Promise.all(minutes.map((one, index) => processes[index % 2]?.open(one)))
        let seen = 0
        const late: number[] = []
        for (let step = 0; step < 70 * 6; step += 1) {
          clock.pass(10_000)
          clock.wall += [0, jumpMs, 0, -jumpMs][step % 4] as number
          for (const process of processes) await process.fire()
          const passed = passedIn(sidecar)
          late.push(...passed.slice(seen).map(({ Due }) => clock.log - Date.parse(Due)))
          seen = passed.length
        }
        expect(passedIn(sidecar).map(({ EntityId }) => EntityId)).to.have.members(ids)
        expect(Math.min(...late)).to.be.at.least(0)
        expect(Math.max(...late)).to.be.below(10_000)
      })

    for (const skewMs of [wrongMs, -wrongMs])
      it(`move to the index of their minute once if the clock shows ${skewMs / minuteMs} minutes more`, async () => {
        const process = startBills(sidecar, clock, { skewMs })
        await process.open(2 * 60 + 59)
        const chunks = new Set<string>()
        await process.passing(115 * minuteMs, minuteMs)
        for (let second = 0; second < 65 * 60; second += 10) {
          clock.pass(10_000)
          await process.fire()
          for (const key of sidecar.documents.keys()) if (/^due\/\d+\/./.test(key)) chunks.add(key)
        }
        expect(passedIn(sidecar)).to.have.length(1)
        expect(chunks).to.have.length(2)
      })

    for (const skewMs of [wrongMs, -wrongMs])
      it(`become overdue by the time of the log if the clock shows ${skewMs / minuteMs} minutes more`, async () => {
        const process = startBills(sidecar, clock, { skewMs })
        await process.open(3)
        clock.pass(4 * minuteMs)
        expect(process.firing.overdueMs()).to.equal(0)
        clock.pass(2 * minuteMs)
        expect(process.firing.overdueMs()).to.equal(2 * minuteMs)
      })
  })
}
