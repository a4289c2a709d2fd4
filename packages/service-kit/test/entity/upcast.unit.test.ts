import { noTenant } from '@orderflow/envelope'
import { expect } from 'chai'
import { type DecisionContext, entity } from '../../src/entity/entity.ts'
import { facts } from '../../src/entity/facts.ts'
import { rulesOf } from '../../src/entity/step.ts'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { FakeSidecar } from '../../src/testing/fake-sidecar.ts'
import { Clock } from './account.ts'
import { bill, minuteMs, passedIn, startBills } from './bill.ts'

/** A later release of the bill, whose state has a field for the due date in place of the status `open`. */
interface Later {
  openUntil?: string | undefined
  isReminded: boolean
  end?: string
}

const later = entity({
  name: bill.name,
  id: ({ PaymentId }) => PaymentId,
  events: ['PaymentApproved', 'PaymentRefunded', 'PaymentRejected'],
  initial: { isReminded: false } as Later,
  upcast: [
    ({ status, ...rest }) => ({ ...rest, state: status }),
    ({ state, due, isReminded }): Later => ({
      openUntil: state === 'open' ? due : undefined,
      isReminded,
      ...(state !== 'open' && { end: state }),
    }),
  ],
  evolve: {
    PaymentApproved: (_, { Payload, CreationDate }) => ({
      openUntil: new Date(Date.parse(CreationDate) + Payload.Amount * minuteMs).toISOString(),
      isReminded: true,
    }),
    PaymentRefunded: (state, { Payload }) => ({ isReminded: state.isReminded, end: Payload.Reason }),
  },
  deadlines: ({ openUntil }) => ({ Reminder: undefined, Expiry: openUntil }),
  onDeadline: bill.onDeadline as never,
  commands: {
    open: bill.commands?.open as never,
    pay: ((_: undefined, { openUntil }: Later, { id }: DecisionContext) =>
      openUntil && { PaymentRefunded: { PaymentId: id, OrderId: id, Amount: 0, Reason: 'paid' } }) as never,
  },
  view: (state) => state,
})

describe('the state of an earlier release', () => {
  let [sidecar, clock] = [new FakeSidecar(), new Clock()]
  beforeEach(() => {
    ;[sidecar, clock] = [new FakeSidecar(), new Clock()]
  })
  const startLater = () => startBills(sidecar, clock, {}, later as unknown as typeof bill)
  const stateOf = (process: ReturnType<typeof startLater>, id: string) => process.opened.state(noTenant, id) as unknown

  it('takes its newest form step by step when it is read, and is stored at the next change', async () => {
    const id = await startBills(sidecar, clock).open(30)
    const process = startLater()
    const openUntil = new Date(clock.log + 30 * minuteMs).toISOString()
    expect(await stateOf(process, id)).to.deep.equal({ openUntil, isReminded: true })
    expect(sidecar.documents.get(`bill/${id}`)?.value).to.not.have.property('version')
    await process.pay(id)
    expect(sidecar.documents.get(`bill/${id}`)?.value).to.deep.include({
      version: 2,
      state: { isReminded: true, end: 'paid' },
    })
  })

  it('lets the deadline of the earlier release pass', async () => {
    const id = await startBills(sidecar, clock).open(1)
    const process = startLater()
    await process.passing(2 * minuteMs)
    expect(passedIn(sidecar).map(({ EntityId }) => EntityId)).to.deep.equal([id])
    await process.decide()
    expect(await stateOf(process, id)).to.deep.equal({ isReminded: true, end: 'expired' })
  })

  it('waits for a replica of the later release that wrote it', async () => {
    const id = await startLater().open(30)
    const error = await startBills(sidecar, clock)
      .pay(id)
      .catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(SidecarError)
    expect((error as Error).message).to.equal(
      'read state: the state of this bill was written by a later release of the service',
    )
  })

  it('follows from schemas if it consists of facts', () => {
    const declared = { ...bill, ...facts(['PaymentApproved']), evolve: undefined, upcast: [(state: unknown) => state] }
    expect(() => rulesOf(declared as never)).to.throw('the entity bill has both facts and upcast')
  })
})
