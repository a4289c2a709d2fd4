import { type FullEvent, noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import fc from 'fast-check'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { Clock, handlerIn, logOf } from './account.ts'
import { bill, firedIn, minuteMs, startBills } from './bill.ts'

type Deadlines = NonNullable<typeof bill.deadlines>
const deadlinesOf = bill.deadlines as Deadlines
const decide = bill.onDeadline as NonNullable<typeof bill.onDeadline>

/** Returns another release of the bill, whose deadline has another name or time. */
const changed = (name: string, ms: number): typeof bill =>
  ({
    ...bill,
    deadlines(state: Parameters<Deadlines>[0]) {
      const { Expiry, ...rest } = deadlinesOf(state)
      return { ...rest, [name]: Expiry && new Date(new Date(Expiry).getTime() + ms) }
    },
    onDeadline: { Reminder: decide.Reminder, [name]: decide.Expiry },
  }) as typeof bill

const withoutReminder = {
  ...bill,
  deadlines: (state: Parameters<Deadlines>[0]) => ({ Expiry: deadlinesOf(state).Expiry }),
  onDeadline: { Expiry: decide.Expiry },
} as typeof bill

/** Upgrades that change neither the name nor the time of a deadline. */
const equal = {
  'the same deadlines': [bill, bill],
  'a new deadline': [withoutReminder, bill],
  'one deadline less': [bill, withoutReminder],
} as const
const upgrades = {
  ...equal,
  'another name of a deadline': [bill, changed('End', 0)],
  'a later deadline': [bill, changed('Expiry', 5 * minuteMs)],
  'an earlier deadline': [bill, changed('Expiry', -0.5 * minuteMs)],
} as const

const release = fc.nat(1)
const action = fc.oneof(
  fc.record({
    ...{ do: fc.constant('open' as const), release, bill: fc.nat(2), minutes: fc.constantFrom(1, 2, 4) },
    policy: fc.constantFrom('with reminder', 'without reminder'),
  }),
  fc.record({ do: fc.constant('pay' as const), release, bill: fc.nat(9) }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.constantFrom(20, 60, 120) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('fire' as const), release }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('decide' as const), release }) },
)
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never

/** The earlier release fires deadlines, whose events the later one handles. */
const firedBefore: Action[] = [
  { do: 'open', release: 0, bill: 0, minutes: 1, policy: 'without reminder' },
  { do: 'pass', seconds: 120 },
  { do: 'fire', release: 0 },
  { do: 'decide', release: 1 },
]

/** Runs both releases on one store, and then only the later one. Returns the bills, and what is in the log. */
async function upgrade(type: string, releases: readonly (typeof bill)[], actions: readonly Action[]) {
  const [sidecar, clock] = [new FakeSidecar(type), new Clock()]
  const processes = releases.map((one) => startBills(sidecar, clock, {}, one))
  const [old, next] = processes as [(typeof processes)[0], (typeof processes)[0]]
  const ids: string[] = []
  let delivered = 0
  /** The dead letters, which are replayed after the upgrade. */
  const refused: FullEvent[] = []
  async function handle(process: typeof old, events: readonly FullEvent[]): Promise<void> {
    for (const event of events)
      await handlerIn(process.opened.reactions, event)(event).catch(() => void refused.push(event))
  }
  async function decideNew(process: typeof old): Promise<void> {
    const fired = firedIn(sidecar)
    await handle(process, fired.slice(delivered))
    delivered = fired.length
  }
  for (const each of actions) {
    const process = processes['release' in each ? each.release : 0] as typeof old
    const id = 'bill' in each ? ids[each.bill] : undefined
    if (each.do === 'open' && (id === undefined || (await process.status(id)) === 'open')) {
      // A later deadline has another time.
      clock.pass(1)
      const opened = await process.opened.do.open(id, each, { tenant: noTenant })
      if (id === undefined) ids.push(opened.id)
    }
    if (each.do === 'pay' && id) await process.pay(id)
    if (each.do === 'decide') await decideNew(process)
    if (each.do === 'fire') await process.fire()
    if (each.do === 'pass') clock.pass(each.seconds * 1_000)
  }
  await old.firing.leave()
  const replayed = refused.splice(0)
  for (let turn = 0; turn < 12; turn += 1) {
    await next.passing(minuteMs)
    await decideNew(next)
    await handle(next, replayed.splice(0))
  }
  const statuses = await Promise.all(ids.map((id) => next.status(id)))
  return { ids, statuses, log: logOf(sidecar), fired: firedIn(sidecar) }
}

for (const [what, releases] of Object.entries(upgrades)) {
  for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
    describe(`a rolling upgrade to a release with ${what}, on ${type}`, () => {
      it('decides each deadline once, and leaves no entity open', async () => {
        const property = fc.asyncProperty(fc.array(action, { minLength: 3, maxLength: 30 }), async (actions) => {
          const { ids, statuses, log, fired } = await upgrade(type, releases, actions)
          const of = (name: string) =>
            log.filter(({ Name }) => Name === name).map(({ Payload }) => (Payload as { PaymentId: string }).PaymentId)
          expect(statuses).to.not.include('open')
          expect(of('PaymentRefunded')).to.have.members(ids)
          const count = (names: string[], id: string) => names.filter((one) => one === id).length
          const [opened, reminded] = [of('PaymentApproved'), of('PaymentRejected')]
          for (const id of ids) expect(count(reminded, id)).to.be.at.most(count(opened, id))
          // If the other release has another deadline, it leaves the event undecided, and the deadline passes again.
          if (!(what in equal)) return
          const passed = [...new Map(fired.map(({ Id, Payload }) => [Id, JSON.stringify(Payload)])).values()]
          expect(passed).to.have.members([...new Set(passed)])
        })
        await fc.assert(property, { numRuns: 25, examples: [[firedBefore]] })
      })
    })
  }
}

describe('a deadline that only the later release has', () => {
  const later = (minutes: number) => ({ minutes, policy: 'p' })
  let [sidecar, clock] = [new FakeSidecar(), new Clock()]
  beforeEach(() => {
    ;[sidecar, clock] = [new FakeSidecar(), new Clock()]
  })
  const start = () => [startBills(sidecar, clock, {}, withoutReminder), startBills(sidecar, clock)] as const
  const named = (name: string) =>
    firedIn(sidecar).filter(({ Payload }) => (Payload as { Deadline?: string }).Deadline === name)

  it('passes although the earlier release changes the entity', async () => {
    const [old, next] = start()
    const { id } = await next.opened.do.open(undefined, later(10), { tenant: noTenant })
    await old.opened.do.open(id, later(10), { tenant: noTenant })
    expect(sidecar.documents.get(`bill/${id}`)?.value)
      .to.have.property('deadlines')
      .that.has.all.keys('Expiry')
    await next.passing(9.5 * minuteMs)
    expect(named('Reminder')).to.have.length(1)
    await next.decide()
    expect(logOf(sidecar).at(-1)?.Name).to.equal('PaymentRejected')
  })

  it('becomes a dead letter in the earlier release, which the later one can handle', async () => {
    const [old, next] = start()
    await next.opened.do.open(undefined, later(2), { tenant: noTenant })
    await next.passing(1.5 * minuteMs)
    const [error] = await old.decide()
    expect(error?.message).to.equal('this version of the service does not know the deadline Reminder of bill')
    await next.decide()
    expect(logOf(sidecar).at(-1)?.Name).to.equal('PaymentRejected')
  })
})
