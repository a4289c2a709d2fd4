import { randomUUID } from 'node:crypto'
import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { handlerIn, logOf } from '../account.ts'
import { bill, firedIn, minuteMs, passedIn } from '../bill.ts'
import { onEachStore } from './on-each-store.ts'

onEachStore('deadlines that end or move', (bills) => {
  const firedIds = () => passedIn(bills.sidecar).map(({ EntityId }) => EntityId)

  it('does not fire a deadline that has ended', async () => {
    const process = bills.start()
    const id = await process.open(30)
    await process.pay(id)
    await process.passing(31 * minuteMs, 10_000)
    expect(firedIds()).to.deep.equal([])
  })

  // AxonFramework#3857: it failed, and was repeated without end.
  it('accepts a second end of a deadline, and an end after it has fired', async () => {
    const pay = (_: undefined, __: unknown, { id }: { id: string }) => ({
      PaymentRefunded: { PaymentId: id, OrderId: id, Amount: 0, Reason: 'paid' },
    })
    const process = bills.start({}, { ...bill, commands: { ...bill.commands, pay } } as typeof bill)
    const [id, fired] = [await process.open(1), await process.open(0.5)]
    await Promise.all([process.pay(id), process.pay(id)])
    await process.pay(id)
    await process.passing(2 * minuteMs)
    expect(firedIds()).to.deep.equal([fired])
    await process.decide()
    await process.pay(fired)
    expect(await process.decide()).to.deep.equal([])
    expect([await process.status(id), await process.status(fired)]).to.deep.equal(['paid', 'paid'])
    expect(process.problems).to.deep.equal([])
  })

  // trigger.dev#2165: it fired at its old time. AxonFramework#875: a second deadline with the same name failed.
  it('fires a moved deadline at its new time only', async () => {
    const process = bills.start()
    const [later, earlier] = [await process.open(10), await process.open(60)]
    await process.open(30, later)
    await process.open(5, earlier)
    await process.passing(6 * minuteMs)
    expect(firedIds()).to.deep.equal([earlier])
    await process.passing(23 * minuteMs)
    expect(firedIds()).to.have.length(1)
    await process.passing(2 * minuteMs)
    expect(firedIds()).to.deep.equal([earlier, later])
  })

  // trigger.dev#4708: it ended a run 4 min 35 s early.
  it('moves a deadline together with the deadline from which it derives', async () => {
    const process = bills.start()
    const id = randomUUID()
    const open = (minutes: number) =>
      process.opened.do.open(id, { minutes, policy: 'with reminder' }, { tenant: noTenant })
    await open(10)
    await open(20)
    await process.passing(18.9 * minuteMs)
    expect(passedIn(bills.sidecar)).to.deep.equal([])
    await process.passing(1.5 * minuteMs)
    expect(passedIn(bills.sidecar).map(({ Deadline }) => Deadline)).to.deep.equal(['Reminder', 'Expiry'])
  })

  // dapr/dapr#10094 (v1.18.1): the second end removed the timer of the first wait again, and the second timer fired.
  it('ends the latest deadline of a name, although earlier ones with this name have ended', async () => {
    const process = bills.start()
    const [id, other] = [randomUUID(), randomUUID()]
    for (let wait = 0; wait < 5; wait += 1) {
      await Promise.all([process.open(3, id), process.open(3, other)])
      await process.passing(minuteMs)
      await process.pay(id)
    }
    await process.passing(1.9 * minuteMs)
    expect(firedIds()).to.deep.equal([])
    await process.passing(10 * minuteMs)
    expect(firedIds()).to.deep.equal([other])
  })

  // spring-modulith#1836: the time ran from the first attempt, so a second one failed at once.
  it('gives a second attempt its whole time, also if the event of the first one arrives during the second', async () => {
    const process = bills.start()
    const [decided, undecided] = [await process.open(10), await process.open(10)]
    await process.passing(11 * minuteMs)
    const [first] = firedIn(bills.sidecar).filter(({ Payload }) => Object(Payload).EntityId === decided)
    if (first) await handlerIn(process.opened.reactions, first)(first)
    await process.open(10, decided)
    await process.open(10, undecided)
    expect(await process.decide()).to.deep.equal([])
    await process.passing(9.9 * minuteMs)
    expect(await process.decide()).to.deep.equal([])
    expect([await process.status(decided), await process.status(undecided)]).to.deep.equal(['open', 'open'])
    expect(firedIds()).to.have.length(2)
    await process.passing(minuteMs)
    expect(firedIds()).to.have.length(4)
    await process.decide()
    expect([await process.status(decided), await process.status(undecided)]).to.deep.equal(['expired', 'expired'])
  })

  it('begins, ends and moves a deadline in one batch', async () => {
    const process = bills.start()
    const id = randomUUID()
    await Promise.all([process.open(1, id), process.pay(id), process.open(3, id)])
    await process.passing(2.9 * minuteMs)
    expect(firedIds()).to.deep.equal([])
    await process.passing(minuteMs)
    expect(firedIds()).to.have.length(1)
  })

  // sdk-typescript#466, sdk-java#2606: it threw, and the process was stuck.
  it('fires and ends a deadline in one batch, and then decides it and ends it in one batch', async () => {
    const process = bills.start()
    const pairs = [
      (id: string) => [process.fire(), process.pay(id)],
      (id: string) => [process.pay(id), process.fire()],
      (id: string) => [process.decide(), process.pay(id)],
      (id: string) => [process.pay(id), process.decide()],
    ]
    const ids: string[] = []
    for (const pair of pairs) {
      const id = await process.open(1)
      ids.push(id)
      bills.clock.pass(2 * minuteMs)
      if (pairs.indexOf(pair) > 1) await process.fire()
      await Promise.all(pair(id))
      expect(await process.status(id)).to.be.oneOf(['paid', 'expired'])
    }
    expect(await process.decide()).to.deep.equal([])
    await process.passing(2 * minuteMs)
    expect(process.problems).to.deep.equal([])
    for (const id of ids) {
      const ends = logOf(bills.sidecar).filter(
        ({ Name, Payload }) => Name === 'PaymentRefunded' && Object(Payload).PaymentId === id,
      )
      expect(ends).to.have.length(1)
    }
  })

  // inngest-js#1617: the run was shown as running until the deadline of the wait that had lost.
  it('removes the deadlines of an ended entity, and later their entries in the index', async () => {
    const process = bills.start()
    const id = await process.open(1)
    await process.pay(id)
    expect(bills.sidecar.documents.get(`bill/${id}`)?.value).to.not.have.property('deadlines')
    await process.passing(2 * minuteMs)
    await process.passing(minuteMs)
    expect([...bills.sidecar.documents.keys()].filter((key) => /^due\/\d+\/./.test(key))).to.deep.equal([])
  })

  it('refuses a change that gives a deadline a time after the year 9999', async () => {
    const process = bills.start()
    const error = await process.open(5e9).catch((thrown: unknown) => thrown)
    expect((error as Error).message).to.match(/^the deadline Expiry of bill has no valid time: /)
    expect([...bills.sidecar.documents.keys()].filter((key) => key.startsWith('bill/'))).to.deep.equal([])
  })

  // restatedev/xstate#45: after an upgrade, the delay had another form, was ignored, and the event was sent at once.
  for (const [what, time] of Object.entries({
    null: null,
    'a number': 1_000,
    'a text without a date': '12',
    'a length of time': '30 minutes',
    'a day that does not exist': '2026-02-30T00:00:00Z',
    'a local time': '2026-01-01T10:00:00',
    'an invalid date': new Date(Number.NaN),
    'another object': { delay: 1_000 },
  })) {
    it(`refuses ${what} as the time of a deadline, and does not fire it at once`, async () => {
      const deadlines = ({ status }: { status: string }) => (status === 'open' ? { Expiry: time } : {})
      const process = bills.start({}, { ...bill, deadlines } as unknown as typeof bill)
      const error = await process.open(30).catch((thrown: unknown) => thrown)
      expect((error as Error).message).to.match(/^the deadline Expiry of bill has no valid time: /)
      await process.passing(minuteMs)
      expect(firedIds()).to.deep.equal([])
    })
  }
})
