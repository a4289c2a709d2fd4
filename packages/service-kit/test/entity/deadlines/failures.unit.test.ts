import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect } from 'chai'
import { FakeSidecar } from '../../../src/testing/fake-sidecar.ts'
import { Clock, Killed, logOf, outage } from '../account.ts'
import { firedIn, minuteMs, passedIn, startBills } from '../bill.ts'
import { onEachStore } from './on-each-store.ts'

type Process = ReturnType<typeof startBills>

/** The key of a chunk, and its document. */
type Chunk = [string, { value: { key: string; name: string; at: unknown }[] }]

/** The state of a bill whose deadlines have no valid time. */
const unreadable = { status: 'open', due: 'unreadable' }

onEachStore('deadlines and failures', (bills) => {
  const firedIds = () => passedIn(bills.sidecar).map(({ EntityId }) => EntityId)
  const recordsOf = () => firedIn(bills.sidecar).map((event) => JSON.stringify(event))

  // camunda#61297: overdue for ever after a restore, because the memory named them as sent.
  for (const [what, minutes, next] of [
    ['in a new process', 1.5, () => bills.start()],
    ['in the same process, which waits for no other', 2.5, (process: Process) => process],
    ['in the same process, which waits for others', 1.5, (process: Process) => process],
    [
      'in the same process, which gets another at once',
      1.5,
      (process: Process) => process.open(60).then(() => process),
    ],
  ] as const) {
    it(`fires a deadline again after the store was restored to the time before, ${what}`, async () => {
      const process = bills.start()
      const ids = [await process.open(1.2), await process.open(1.8)]
      const backup = new Map([...bills.sidecar.documents].map(([key, document]) => [key, structuredClone(document)]))
      await process.passing(minutes * minuteMs)
      const before = ids.slice(0, Math.floor(minutes))
      expect(firedIds()).to.deep.equal(before)
      bills.sidecar.documents.clear()
      for (const [key, document] of backup) bills.sidecar.documents.set(key, document)
      const other = await next(process)
      await other.passing(3 * minuteMs)
      expect(firedIds()).to.deep.equal([...before, ...ids])
      expect(new Set(recordsOf()).size).to.equal(2)
      await other.decide()
      for (const id of ids) expect(await other.status(id)).to.equal('expired')
      const ends = logOf(bills.sidecar).filter(({ Name }) => Name === 'PaymentRefunded')
      expect(ends).to.have.length(2)
    })
  }

  // camunda#10532, #17136: duplicates by parallel sweeps.
  it('fires a deadline once with two processes, of which one gives its deadlines to the other', async () => {
    const [first, second] = [bills.start(), bills.start()]
    for (let count = 0; count < 20; count += 1) await (count % 2 ? first : second).open(5 + count / 10)
    await bills.passing(5.5 * minuteMs, first, second)
    await first.firing.leave()
    await bills.passing(3 * minuteMs, first, second)
    expect(firedIds()).to.have.length(20)
    expect(new Set(firedIds()).size).to.equal(20)
  })

  it('fires a deadline once, although a process stops in its sweep and continues after another one took its deadlines', async () => {
    const [first, second] = [bills.start(), bills.start()]
    for (let count = 0; count < 5; count += 1) await first.open(1)
    await second.open(60)
    const { sidecar } = bills
    const call = bills.type === 'state.sqlite' ? 'transact' : 'save'
    const next = sidecar[call].bind(sidecar) as (...args: unknown[]) => Promise<void>
    const [stopping, continued] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    Object.assign(sidecar, {
      async [call](...args: [{ key: string }[], ...unknown[]]) {
        if (args[0].some(({ key }) => key.startsWith('bill/'))) {
          Object.assign(sidecar, { [call]: next })
          stopping.resolve()
          await continued.promise
        }
        await next(...args)
      },
    })
    bills.clock.pass(2 * minuteMs)
    const stopped = first.fire()
    await stopping.promise
    await bills.passing(40_000, second)
    expect(firedIds()).to.have.length(5)
    continued.resolve()
    await stopped.catch(() => {})
    await bills.passing(3 * minuteMs, first, second)
    expect(firedIds()).to.have.length(5)
    expect(new Set(firedIds()).size).to.equal(5)
  })

  // temporal#5377: a failover moved it before its time.
  it('fires a deadline at its time, or soon after it, if its process is killed', async () => {
    const [first, second] = [bills.start(), bills.start()]
    for (let count = 0; count < 20; count += 1) await first.open(5 + count / 10)
    await first.passing(5.5 * minuteMs)
    first.kill()
    expect(firedIds()).to.have.length(6)
    for (let passed = 0; passed < 3 * minuteMs; passed += 1_000) {
      bills.clock.pass(1_000)
      await second.sweep()
      await second.fire()
      const late = passedIn(bills.sidecar).map(({ Due }) => bills.clock.log - Date.parse(Due))
      expect(Math.min(...late)).to.be.at.least(0)
    }
    expect(new Set(firedIn(bills.sidecar).map(({ Id }) => Id)).size).to.equal(20)
  })

  it('decides a deadline once, whichever call is the last one of the process that fires it', async () => {
    for (const isAfter of [false, true]) {
      for (let killAt = 1; ; killAt += 1) {
        bills.reset()
        const id = await bills.start().open(1)
        bills.clock.pass(2 * minuteMs)
        const first = bills.start({ killAt, isAfter })
        const steps = async () => {
          for (let turn = 0; turn < 30; turn += 1) {
            await first.fire()
            bills.clock.pass(1_000)
          }
        }
        const outcome = await Promise.race([steps(), first.killed]).catch((error: unknown) => error)
        if (!(outcome instanceof Killed)) break
        const next = bills.start()
        await next.passing(minuteMs)
        const records = recordsOf()
        expect(new Set(records).size, `killed at call ${killAt}`).to.equal(1)
        await next.decide()
        expect(await next.status(id)).to.equal('expired')
        expect(logOf(bills.sidecar)).to.have.length(2)
        await next.passing(10 * minuteMs)
        expect(records.length, 'records').to.be.at.most(2)
        expect(recordsOf()).to.have.length(records.length)
      }
    }
  })

  it('fires a deadline, whichever call is the last one of the process that opens its entity', async () => {
    for (const isAfter of [false, true]) {
      for (let killAt = 1; ; killAt += 1) {
        bills.reset()
        const id = randomUUID()
        const first = bills.start({ killAt, isAfter })
        const outcome = await Promise.race([first.open(1, id), first.killed]).catch((error: unknown) => error)
        if (!(outcome instanceof Killed)) break
        const next = bills.start()
        await next.passing(2 * minuteMs)
        const isOpen = (await next.status(id)) === 'open'
        expect(passedIn(bills.sidecar), `killed at call ${killAt}`).to.have.length(isOpen ? 1 : 0)
      }
    }
  })

  // wolverine#587: the recovery took rows that were just inserted, and an e-mail was sent twice.
  it('fires a deadline once, although sweeps of two processes run during each call of its save', async () => {
    const [first, second] = [bills.start(), bills.start()]
    await Promise.all([first.open(60), second.open(60)])
    const { sidecar } = bills
    let sweeping: Promise<unknown> | undefined
    const sweep = () =>
      Promise.allSettled([first, second].flatMap((process) => [process.fire(), process.sweep()])).then(() => {
        sweeping = undefined
      })
    for (const call of ['read', 'readOne', 'transact', 'save', 'publish'] as const) {
      const next = sidecar[call].bind(sidecar) as (...args: unknown[]) => Promise<unknown>
      Object.assign(sidecar, {
        async [call](...args: unknown[]) {
          bills.clock.pass(10)
          sweeping ??= sweep()
          await nextTurn()
          return await next(...args)
        },
      })
    }
    const id = await first.open(0)
    await sweeping
    await bills.passing(minuteMs, first, second)
    expect(firedIds()).to.deep.equal([id])
    await Promise.all([first.decide(), second.decide()])
    expect(await first.status(id)).to.equal('expired')
    expect(logOf(sidecar).filter(({ Name }) => Name === 'PaymentRefunded')).to.have.length(1)
  })

  // NServiceBus#2901: it was removed, then not sent.
  it('fires a deadline after an outage of Kafka between its save and its announcement', async () => {
    const process = bills.start()
    await process.open(1)
    bills.sidecar.failures.publish.push(outage(), outage(), outage())
    bills.clock.pass(2 * minuteMs)
    await process.fire().catch(() => {})
    expect(firedIds()).to.deep.equal([])
    await process.passing(minuteMs)
    expect(firedIds()).to.have.length(1)
  })

  // wolverine#1716: the sweep ended at an unreadable entry. wolverine#3613: it removed the entry. wolverine#3644: it stayed unnoticed.
  for (const [when, minutes] of Object.entries({ 'in a minute': 1, 'in three hours': 180 })) {
    it(`fires a deadline ${when} although another entry of its chunk is unreadable, and fires that one after its repair`, async () => {
      const process = bills.start()
      const [bad, good] = await Promise.all([process.open(minutes), process.open(minutes)])
      const [key, { value }] = [...bills.sidecar.documents].find(([name]) => /^due\/\d+\/[mh]/.test(name)) as Chunk
      const entry = value.find((one) => one.key === `bill/${bad}`) as Chunk[1]['value'][0]
      const { at } = entry
      entry.at = 'soon'
      value.push({ key: 'unknown/1', name: 'Expiry', at })
      await process.passing((minutes + 70) * minuteMs)
      expect(firedIds()).to.deep.equal([good])
      expect(process.problems.map(String)).to.have.length(1)
      expect(String(process.problems[0])).to.include(key)
      // So the alert DeadlinesLate appears.
      expect(process.firing.overdueMs()).to.be.at.least(8 * minuteMs)
      entry.at = at
      await process.firing.leave()
      const next = bills.start()
      for (let minute = 0; minute < 3; minute += 1) {
        await next.fire()
        bills.clock.pass(minuteMs)
      }
      expect(firedIds()).to.deep.equal([good, bad])
      expect([...bills.sidecar.documents.keys()]).to.not.include(key)
    })
  }

  it('fires other deadlines although the document of one is unreadable, and fires this one after its repair', async () => {
    const process = bills.start()
    const [bad, good] = [await process.open(1), await process.open(1)]
    const document = bills.sidecar.documents.get(`bill/${bad}`)?.value as { state: object }
    const state = document.state
    Object.assign(document, { state: unreadable })
    await process.passing(5 * minuteMs)
    expect(firedIds()).to.deep.equal([good])
    expect(process.problems.map(String)).to.have.length.within(1, 5)
    expect(process.firing.overdueMs()).to.equal(4 * minuteMs)
    Object.assign(document, { state })
    await process.passing(3 * minuteMs)
    expect(firedIds()).to.deep.equal([good, bad])
    expect(process.firing.overdueMs()).to.equal(0)
  })

  it('tries a deadline with a bug once a minute, although Kafka does not answer for others', async () => {
    const process = bills.start()
    const [bad] = [await process.open(1), await process.open(1)]
    Object.assign(bills.sidecar.documents.get(`bill/${bad}`)?.value as object, { state: unreadable })
    bills.sidecar.failures.publish.push(outage(), outage(), outage())
    bills.clock.pass(2 * minuteMs)
    for (let turn = 0; turn < 5; turn += 1) {
      bills.clock.pass(1_000)
      await process.fire().catch(() => {})
    }
    const tried = process.problems.length
    await process.passing(5 * minuteMs)
    expect(process.problems.length - tried).to.be.within(4, 6)
  })

  // dapr/dapr#8548: the timers did not continue. dapr/dapr#8855: they began at once.
  it('fires a deadline at its time after restarts of the process alone', async () => {
    await bills.start().open(60)
    for (let restart = 0; restart < 5; restart += 1) {
      const process = bills.start()
      await process.passing(10 * minuteMs, 10_000)
      if (restart % 2) await process.firing.leave()
    }
    expect(firedIds()).to.deep.equal([])
    await bills.start().passing(12 * minuteMs, 10_000)
    expect(firedIds()).to.have.length(1)
  })
})

describe('the deadlines of a service that is killed 70 times', () => {
  it('pass at their time', async () => {
    const [sidecar, clock] = [new FakeSidecar(), new Clock()]
    const start = () => startBills(sidecar, clock)
    const ids: string[] = []
    for (let restart = 0; restart < 70; restart += 1) {
      const process = start()
      ids.push(await process.open(60), await process.open(24 * 60))
      await process.passing(30_000, 5_000)
      process.kill()
    }
    const lanes = [...sidecar.documents].filter(([key]) => /^due\/\d+$/.test(key))
    const used = lanes.filter(([, { value }]) => Object.keys((value as { buckets: object }).buckets).length > 0)
    expect(used).to.have.length.below(4)
    const next = start()
    await next.passing(25 * 60 * minuteMs, 5 * minuteMs)
    expect(passedIn(sidecar).map(({ EntityId }) => EntityId)).to.have.members(ids)
  })
})
