import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { expect } from 'chai'
import { logOf } from '../account.ts'
import { bill, firedIn, minuteMs, passedIn } from '../bill.ts'
import { onEachStore } from './on-each-store.ts'

/** A comment above a test names the thread in which users of another system reported its symptom. docs/adr/0062 lists all of them. */
onEachStore('the firing of deadlines', (bills) => {
  it('fires a deadline at its time, not earlier, and decides it once', async () => {
    const process = bills.start()
    const id = await process.open(30)
    await process.passing(30 * minuteMs - 1)
    expect(passedIn(bills.sidecar)).to.deep.equal([])
    await process.passing(1_001)
    const at = new Date(bills.clock.log - 1_000).toISOString()
    expect(passedIn(bills.sidecar)).to.deep.equal([{ Entity: 'bill', EntityId: id, Deadline: 'Expiry', Due: at }])
    expect(await process.status(id)).to.equal('open')
    await process.decide()
    await process.decide()
    expect(await process.status(id)).to.equal('expired')
    expect(logOf(bills.sidecar).map(({ Name }) => Name)).to.deep.equal(['PaymentApproved', 'PaymentRefunded'])
  })

  it('fires a deadline in the conversation of its entity, and for its tenant', async () => {
    const process = bills.start()
    const tenant = { id: 'acme', userId: 'ada' }
    const id = await process.open(1, undefined, tenant)
    await process.passing(2 * minuteMs)
    const [opened] = logOf(bills.sidecar)
    const [fired] = firedIn(bills.sidecar)
    expect(fired).to.include({ TenantID: 'acme', CorrelationId: opened?.CorrelationId, TraceId: opened?.TraceId })
    await process.decide()
    expect(await process.status(id, tenant)).to.equal('expired')
    const [, expired] = logOf(bills.sidecar)
    expect(expired?.Headers).to.have.property('CausationId', fired?.Id)
  })

  // wolverine#1846: from memory, and again from the store.
  it('fires a deadline of the past once, and at once', async () => {
    const process = bills.start()
    const id = await process.open(0)
    await process.passing(1_000)
    expect(passedIn(bills.sidecar)).to.have.length(1)
    await process.passing(3 * minuteMs)
    await process.decide()
    await process.passing(minuteMs)
    expect(passedIn(bills.sidecar)).to.have.length(1)
    expect(await process.status(id)).to.equal('expired')
  })

  // wolverine#1272: scheduled three times.
  it('fires a deadline once that was overdue when its service started', async () => {
    const id = await bills.start().open(1)
    bills.clock.pass(24 * 60 * minuteMs)
    const next = bills.start()
    await next.passing(minuteMs)
    expect(passedIn(bills.sidecar)).to.have.length(1)
    expect(await next.decide()).to.deep.equal([])
    expect(await next.status(id)).to.equal('expired')
  })

  // nodejs/node#3512, wildhart/meteor.jobs#5: a timer above 24.8 days ends at once.
  for (const [when, days] of Object.entries({
    'in 40 days': 40,
    'at the end of the year': 364.999,
    'in three years': 1_095,
  })) {
    it(`fires a deadline ${when} at its time`, async () => {
      const process = bills.start()
      await process.open(days * 24 * 60)
      await process.passing(days * 24 * 60 * minuteMs - 1, 12 * 60 * minuteMs)
      expect(passedIn(bills.sidecar)).to.deep.equal([])
      await process.passing(minuteMs)
      expect(passedIn(bills.sidecar)).to.have.length(1)
    })
  }

  // camunda#14882: each sweep appended unhandled timers again, until the disk was full.
  it('fires a deadline once, although its consumer was stopped for ten minutes', async () => {
    const process = bills.start()
    await process.open(1)
    await process.passing(10 * minuteMs)
    const next = bills.start()
    await next.passing(minuteMs)
    expect(passedIn(bills.sidecar)).to.have.length(1)
  })

  it('fires a deadline once if another process decides it before its publication is noted', async () => {
    const [process, other] = [bills.start(), bills.start()]
    const id = await process.open(1)
    bills.clock.pass(2 * minuteMs)
    await process.fire()
    await other.decide()
    expect(passedIn(bills.sidecar)).to.have.length(1)
    expect(await other.status(id)).to.equal('expired')
  })

  // camunda#10532, #17136: each new timer began one more sweep.
  it('fires a deadline once, although many sweeps run at the same time', async () => {
    const process = bills.start()
    for (let count = 0; count < 10; count += 1) await process.open(1)
    bills.clock.pass(2 * minuteMs)
    await Promise.all(Array.from({ length: 5 }, () => process.fire()))
    expect(new Set(passedIn(bills.sidecar).map(({ EntityId }) => EntityId)).size).to.equal(10)
    expect(passedIn(bills.sidecar)).to.have.length(10)
  })

  // camunda#9680: once for each missed interval. camunda#63687: twice after a gap.
  it('fires a repeated deadline once after an outage of three intervals, and then an interval later', async () => {
    const { Reminder, Expiry } = bill.onDeadline as NonNullable<typeof bill.onDeadline>
    const repeated = {
      ...bill,
      evolve: {
        ...bill.evolve,
        PaymentRejected: (state: typeof bill.initial, { CreationDate }: { CreationDate: string }) => ({
          ...state,
          due: new Date(Date.parse(CreationDate) + 10 * minuteMs).toISOString(),
        }),
      },
      deadlines: ({ due }: typeof bill.initial) => ({ Reminder: due }),
      onDeadline: { Reminder, Expiry },
    } as typeof bill
    await bills.start({}, repeated).open(10)
    bills.clock.pass(35 * minuteMs)
    const process = bills.start({}, repeated)
    for (let minute = 0; minute < 9; minute += 1) {
      await process.passing(minuteMs)
      await process.decide()
    }
    expect(passedIn(bills.sidecar)).to.have.length(1)
    await process.passing(2 * minuteMs)
    expect(passedIn(bills.sidecar)).to.have.length(2)
  })

  it('passes over deadlines that have ended without the pauses between those that it fires', async () => {
    const process = bills.start()
    const ids = await Promise.all(Array.from({ length: 300 }, () => process.open(1)))
    await Promise.all(ids.map((id) => process.pay(id)))
    await process.open(2)
    const { setTimeout } = timers
    const waits: number[] = []
    // Other waits of the process may run at the same time, such as an attempt to announce again.
    timers.setTimeout = ((ms: number) => {
      if (new Error().stack?.includes('/deadlines/create-firing.ts')) waits.push(ms)
      return setTimeout(0)
    }) as typeof setTimeout
    syncBuiltinESMExports()
    try {
      bills.clock.pass(3 * minuteMs)
      await process.fire()
      expect(passedIn(bills.sidecar)).to.have.length(1)
      expect(waits.filter((ms) => ms > 0)).to.deep.equal([])
    } finally {
      Object.assign(timers, { setTimeout })
      syncBuiltinESMExports()
    }
  })

  it('fires nothing while its topic has lag, and then the oldest deadline first', async () => {
    const process = bills.start()
    await Promise.all(Array.from({ length: 1_200 }, (_, index) => process.open(2 - index / 1_200)))
    bills.clock.pass(10 * minuteMs)
    bills.clock.lag = 5_000
    await process.fire()
    expect(passedIn(bills.sidecar)).to.have.length(1_000)
    await process.passing(5_000)
    expect(passedIn(bills.sidecar)).to.have.length(1_000)
    bills.clock.lag = 0
    await process.passing(3_000)
    const times = passedIn(bills.sidecar).map(({ Due }) => Due)
    expect(times).to.have.length(1_200)
    // Within a hundred that pass together, the sequence is open.
    for (let first = 0; first + 200 <= times.length; first += 100) {
      const [some, next] = [times.slice(first, first + 100), times.slice(first + 100, first + 200)]
      expect((some.toSorted().at(-1) as string) <= (next.toSorted()[0] as string)).to.equal(true)
    }
  })

  it('fires nothing while the time of the log is unknown', async () => {
    const process = bills.start()
    await process.open(1)
    Object.defineProperty(bills.clock, 'log', { value: undefined })
    await process.passing(5 * minuteMs)
    expect(passedIn(bills.sidecar)).to.deep.equal([])
  })
})
