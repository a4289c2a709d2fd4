import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { entity, type Schedule } from '../../src/entity/entity.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { Clock, type Faults, handlerIn, Killed, logOf, outage, startProcess } from './account.ts'
import { firedIn, minuteMs, type Passed, passedIn } from './bill.ts'

const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const reportId = '5f0c1f52-6a7e-4c39-8c1d-2f6b3a9d7e10'

/** A report whose events have the time of the schedule. */
const reportWith = (every: Record<'Made', Schedule | string>) =>
  entity({
    name: 'report',
    id: ({ PaymentId }) => PaymentId,
    events: ['PaymentApproved'],
    initial: { made: [] as readonly string[] },
    evolve: { PaymentApproved: ({ made }, { Payload }) => ({ made: [...made, Payload.Policy] }) },
    every,
    onDeadline: {
      Made: (_, { id, due }) => ({
        PaymentApproved: {
          ...{ PaymentId: id, OrderId: id, Amount: 1, Source: 'Manual' as const },
          Policy: due.toISOString(),
        },
      }),
    },
    view: (state) => state,
  })

const nightly = { cron: '0 2 * * *', of: reportId } as const

function startReports(sidecar: FakeSidecar, clock: Clock, every: Schedule | string = nightly, faults: Faults = {}) {
  const { opened, ...process } = startProcess(reportWith({ Made: every }), sidecar, clock, faults)
  return {
    ...process,
    opened,
    pass: () => opened.schedules?.pass(new Date(clock.log)) as Promise<void>,
    made: async (id = reportId) => (await opened.state(noTenant, id)).made,
    /** Delivers all events of passed times that are in the log. */
    async decide() {
      for (const event of firedIn(sidecar)) await handlerIn(opened.reactions, event)(event)
    },
    async restore() {
      for (const event of [...logOf(sidecar), ...firedIn(sidecar)]) await handlerIn(opened.rebuild, event)(event)
    },
  }
}

/** Returns the times that have passed, once for each Id. Fails if two records have the same Id and different contents. */
function timesIn(sidecar: FakeSidecar): string[] {
  const texts = firedIn(sidecar).map((event) => JSON.stringify(event))
  const events = [...new Set(texts)].map((text) => JSON.parse(text) as { Id: string; Payload: Passed })
  expect(new Set(events.map(({ Id }) => Id)).size, 'one Id, one content').to.equal(events.length)
  return events.map(({ Payload }) => Payload.Due)
}
const january = (day: number, time = '02:00') => `2026-01-${String(day).padStart(2, '0')}T${time}:00.000Z`

for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
  describe(`a schedule of an entity, on ${type}`, () => {
    let sidecar: FakeSidecar
    let clock: Clock
    beforeEach(() => {
      ;[sidecar, clock] = [new FakeSidecar(type), new Clock()]
    })
    const start = (every?: Schedule | string, faults?: Faults) => startReports(sidecar, clock, every, faults)

    it('passes at its time, not earlier, and is decided once', async () => {
      const process = start()
      await process.pass()
      clock.pass(2 * hourMs - 1)
      for (const replica of [process, start()]) await replica.pass()
      expect(passedIn(sidecar)).to.deep.equal([])
      clock.pass(1)
      await process.pass()
      await process.pass()
      expect(passedIn(sidecar)).to.deep.equal([
        { Entity: 'report', EntityId: reportId, Deadline: 'Made', Due: january(1) },
      ])
      await process.decide()
      await process.decide()
      expect(await process.made()).to.deep.equal([january(1)])
      expect(logOf(sidecar)).to.have.length(1)
    })

    it('passes each day once on two replicas', async () => {
      const replicas = [start(), start()]
      for (let day = 0; day < 5; day += 1) {
        await Promise.all(replicas.map((replica) => replica.pass()))
        clock.pass(dayMs)
      }
      expect(timesIn(sidecar)).to.deep.equal([1, 2, 3, 4].map((day) => january(day)))
    })

    it('does not make up times before its first start', async () => {
      clock.pass(10 * dayMs)
      const process = start()
      await process.pass()
      expect(passedIn(sidecar)).to.deep.equal([])
      clock.pass(dayMs)
      await process.pass()
      expect(timesIn(sidecar)).to.deep.equal([january(11)])
    })

    // camunda#9680: once for each missed time.
    it('passes only the latest of the times that were missed', async () => {
      await start().pass()
      clock.pass(3 * dayMs)
      const process = start()
      await process.pass()
      await process.pass()
      expect(timesIn(sidecar)).to.deep.equal([january(3)])
    })

    // camunda#63687: twice after a gap.
    it('passes each missed time once, the oldest first, if it is declared so', async () => {
      await start({ ...nightly, missed: 'each' }).pass()
      clock.pass(250 * dayMs)
      const replicas = [start({ ...nightly, missed: 'each' }), start({ ...nightly, missed: 'each' })]
      await replicas[0]?.pass()
      expect(timesIn(sidecar)).to.have.length(100)
      for (let second = 0; second < 5; second += 1) {
        await Promise.all(replicas.map((replica) => replica.pass()))
        clock.pass(1_000)
      }
      const expected = Array.from({ length: 250 }, (_, day) =>
        new Date(Date.parse(january(1)) + day * dayMs).toISOString(),
      )
      expect(timesIn(sidecar)).to.deep.equal(expected)
    })

    it('reaches the log with one content if its process is killed at any moment', async () => {
      for (const isAfter of [false, true]) {
        for (let killAt = 1; ; killAt += 1) {
          ;[sidecar, clock] = [new FakeSidecar(type), new Clock()]
          await start().pass()
          clock.pass(2 * hourMs)
          const killed = start(nightly, { killAt, isAfter })
          const error = await Promise.race([killed.pass(), killed.killed]).catch((error: unknown) => error)
          const other = start()
          for (let second = 0; second < 60; second += 1) {
            clock.pass(1_000)
            await other.sweep()
            await other.pass()
          }
          expect(timesIn(sidecar), `killed at call ${killAt}`).to.deep.equal([january(1)])
          await other.decide()
          expect(await other.made()).to.deep.equal([january(1)])
          if (!(error instanceof Killed)) break
        }
      }
    })

    it('keeps the time of a killed process when another process passes the next one', async () => {
      await start().pass()
      clock.pass(2 * hourMs)
      sidecar.failures.publish.push(...Array.from({ length: 20 }, outage))
      const killed = start()
      await killed.pass().catch(() => {})
      killed.kill()
      sidecar.failures.publish.length = 0
      const other = start()
      clock.pass(dayMs)
      await other.pass()
      for (let second = 0; second < 60; second += 1) {
        clock.pass(1_000)
        await other.sweep()
      }
      expect(timesIn(sidecar)).to.deep.equal([january(1), january(2)])
    })

    it('leads to one decision if its store is restored from an earlier copy', async () => {
      const process = start()
      await process.pass()
      const copy = structuredClone([...sidecar.documents])
      clock.pass(dayMs)
      await process.pass()
      await process.decide()
      const key = [...sidecar.documents.keys()].find((one) => one.includes('every-report')) as string
      sidecar.documents.set(key, (copy.find(([one]) => one === key) as (typeof copy)[number])[1])
      const restored = start()
      await restored.pass()
      await restored.decide()
      expect(firedIn(sidecar)).to.have.length(2)
      expect(timesIn(sidecar)).to.deep.equal([january(1)])
      expect(await restored.made()).to.deep.equal([january(1)])
    })

    it('continues after a rebuild of a lost store, without a lost or a repeated time', async () => {
      const process = start()
      await process.pass()
      clock.pass(dayMs)
      await process.pass()
      await process.decide()
      sidecar.documents.clear()
      clock.pass(dayMs)
      const rebuilt = start()
      await rebuilt.restore()
      expect(await rebuilt.made()).to.deep.equal([january(1)])
      await rebuilt.pass()
      await rebuilt.decide()
      expect(timesIn(sidecar)).to.deep.equal([january(1), january(2)])
      expect(await rebuilt.made()).to.deep.equal([january(1), january(2)])
    })

    it('changes with the declaration of a release', async () => {
      await start().pass()
      const later = start({ cron: '0 5 * * *', of: reportId })
      clock.pass(4 * hourMs)
      await later.pass()
      expect(timesIn(sidecar)).to.deep.equal([])
      clock.pass(hourMs)
      await later.pass()
      expect(timesIn(sidecar)).to.deep.equal([january(1, '05:00')])
    })
  })
}

describe('the declaration of a schedule', () => {
  /** Returns the times that pass if the service runs without interruption from `from` on. */
  async function timesOf(every: Schedule | string, from: string, hours: number): Promise<string[]> {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    clock.pass(Date.parse(from) - clock.log)
    const process = startReports(sidecar, clock, every)
    for (let quarter = 0; quarter <= hours * 4; quarter += 1) {
      await process.pass()
      clock.pass(hourMs / 4)
    }
    return timesIn(sidecar)
  }
  const zone = 'Europe/Berlin'

  it('follows the clocks of a time zone', async () => {
    expect(await timesOf({ cron: '0 2 * * *', zone }, '2026-01-01T12:00Z', 24)).to.deep.equal([
      '2026-01-02T01:00:00.000Z',
    ])
    expect(await timesOf({ cron: '0 2 * * *', zone }, '2026-07-01T12:00Z', 24)).to.deep.equal([
      '2026-07-02T00:00:00.000Z',
    ])
  })

  it('passes at the end of the gap on a day without its hour', async () => {
    expect(await timesOf({ cron: '30 2 * * *', zone }, '2026-03-28T12:00Z', 48)).to.deep.equal([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
  })

  it('passes once on a day that has its hour twice', async () => {
    expect(await timesOf({ cron: '30 2 * * *', zone }, '2026-10-24T12:00Z', 48)).to.deep.equal([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ])
  })

  it('passes each hour of these days, if it has no hour', async () => {
    const [spring, autumn] = ['2026-03-28T23:30Z', '2026-10-24T23:30Z']
    for (const from of [spring, autumn]) {
      const times = await timesOf({ cron: '0 * * * *', zone }, from, 5)
      const first = Date.parse(from) + hourMs / 2
      expect(times).to.deep.equal([0, 1, 2, 3, 4].map((hour) => new Date(first + hour * hourMs).toISOString()))
    }
  })

  it('accepts a text, for the entity with the name of the declaration, in UTC', async () => {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    const process = startReports(sidecar, clock, '0 2 * * *')
    await process.pass()
    clock.pass(2 * hourMs)
    await process.pass()
    expect(passedIn(sidecar)).to.deep.equal([
      { Entity: 'report', EntityId: 'report', Deadline: 'Made', Due: january(1) },
    ])
  })

  it('names another entity for each time', async () => {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    const process = startReports(sidecar, clock, { cron: '0 2 * * *', of: (due) => due.toISOString().slice(0, 10) })
    for (let day = 0; day < 3; day += 1) {
      await process.pass()
      clock.pass(dayMs)
    }
    expect(passedIn(sidecar).map(({ EntityId }) => EntityId)).to.deep.equal(['2026-01-01', '2026-01-02'])
  })

  it('stops no other schedule of the entity if its function has a bug', async () => {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    const of = () => {
      throw new Error('a bug')
    }
    const broken = { Broken: { cron: '0 2 * * *', of }, ...{ Made: nightly } }
    const process = startProcess(reportWith(broken), sidecar, clock)
    const pass = () => process.opened.schedules?.pass(new Date(clock.log)).catch((error: Error) => error.message)
    await pass()
    clock.pass(dayMs)
    expect(await pass()).to.equal('a bug')
    expect(timesIn(sidecar)).to.deep.equal([january(1)])
  })

  it('fails with its name if it has a mistake or never passes', () => {
    const open = (every: Schedule | string) => () => startReports(new FakeSidecar(), new Clock(), every)
    expect(open('0 25 * * *')).to.throw('the schedule Made of report is invalid: CronPattern: Invalid value for hour')
    expect(open('* * * *')).to.throw('the schedule Made of report is invalid')
    expect(open({ cron: '0 2 * * *', zone: 'Europe/Atlantis' })).to.throw('the schedule Made of report is invalid')
    expect(open('0 0 30 2 *')).to.throw('the schedule Made of report never passes: 0 0 30 2 *')
  })

  it('fails if a deadline has the same name', async () => {
    const twice = { ...reportWith({ Made: nightly }), deadlines: () => ({ Made: january(5) }) }
    const { opened } = startProcess(twice, new FakeSidecar())
    const [event] = firedIn(await passed())
    const failure = await handlerIn(opened.reactions, event as never)(event as never).catch((error: Error) => error)
    expect((failure as Error).message).to.equal('Made of report is a deadline and a schedule: rename one')
  })

  async function passed(): Promise<FakeSidecar> {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    const process = startReports(sidecar, clock)
    await process.pass()
    clock.pass(dayMs)
    await process.pass()
    return sidecar
  }
})
