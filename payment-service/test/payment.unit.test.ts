import { randomUUID } from 'node:crypto'
import { type FullEvent, noTenant } from '@orderflow/envelope-schema'
import { Refused } from '@orderflow/service-kit'
import { FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Policy } from '../src/policy.ts'
import {
  type Announced,
  cancelled,
  created,
  expired,
  openPayments,
  orderId,
  paymentId,
  type Request,
} from './payments.ts'

type Payments = ReturnType<typeof openPayments>
type Options = Parameters<typeof openPayments>[0]
type Action = (payments: Payments) => Promise<unknown>

const charge =
  (total?: number): Action =>
  ({ react }) =>
    react(created(total))
const pay =
  (amount: number): Action =>
  ({ make }) =>
    make({ amount }).catch(refusal)
const cancel: Action = ({ react }) => react(cancelled())
const expire: Action = ({ react }) => react(expired())

function refusal(error: unknown): Refused {
  if (error instanceof Refused) return error
  throw error
}

async function paymentsWith(options: Options, ...actions: Action[]): Promise<Payments> {
  const payments = openPayments(options)
  for (const action of actions) await action(payments)
  return payments
}
const paymentsAfter = (...actions: Action[]) => paymentsWith({}, ...actions)
const paymentAfter = async (...actions: Action[]) => (await paymentsAfter(...actions)).get()
const statusAfter = async (...actions: Action[]) => (await paymentAfter(...actions))?.status
const namesIn = (events: readonly FullEvent[]) => events.map(({ Name }) => Name)

const approving: Policy = () => ({ approved: true, policy: 'p@1' })
const rejecting: Policy = () => ({ approved: false, policy: 'p@1', reason: 'too much' })

/** Returns the events that a process with an empty store announces. */
const announcedAfter = async (options: Options, ...actions: Action[]): Promise<Announced[]> =>
  (await paymentsWith(options, ...actions)).announced()

/** Returns the payments of a process whose store was rebuilt from these events. */
async function rebuilt(...events: FullEvent[]): Promise<Payments> {
  const payments = openPayments()
  await payments.restore(...events)
  return payments
}

describe('payment', () => {
  it('becomes approved up to the limit, and rejected with a reason above it', async () => {
    expect(await statusAfter(charge(10_000))).to.equal('Approved')
    expect(await paymentAfter(charge(10_000.01))).to.include({
      status: 'Rejected',
      policy: 'amount-limit@1',
      reason: 'the amount is above the limit of 10000',
    })
  })

  it('keeps the tenant and user of its order, if any', async () => {
    for (const tenant of [
      { id: 'acme', userId: 'ada' },
      { id: 'acme', userId: '' },
      { id: '', userId: 'ada' },
      noTenant,
    ]) {
      const payments = openPayments()
      await payments.react(created(42.5, { tenant }))
      const { PaymentApproved: event } = await payments.state(tenant)
      const { TenantID = '', TenantUserID = '' } = event as Announced
      expect({ id: TenantID, userId: TenantUserID }).to.deep.equal(tenant)
      expect(payments.announced()).to.deep.equal([event])
      expect(Object.keys(event as Announced).filter((field) => field.startsWith('Tenant'))).to.have.length(
        [tenant.id, tenant.userId].filter(Boolean).length,
      )
    }
  })

  it('keeps its first decision, whatever follows', async () => {
    const payments = await paymentsAfter(charge())
    const before = await payments.state()
    expect(await payments.react(created())).to.deep.equal([false])
    expect(await payments.react(created(1)).catch(refusal)).to.include({ code: 'conflicting-order' })
    expect(await payments.make({ amount: 1 }).catch(refusal)).to.include({ code: 'payment-exists' })
    expect(await payments.state()).to.deep.equal(before)
    expect(namesIn(payments.announced())).to.deep.equal(['PaymentApproved'])
  })

  it('becomes refunded when its order is cancelled, with the time of the cancellation', async () => {
    expect(await paymentAfter(charge(), cancel)).to.include({
      status: 'Refunded',
      createdAt: '2026-11-21T10:00:00.000Z',
      refundedAt: '2026-11-21T11:00:00.000Z',
    })
  })

  it('stays rejected when its order is cancelled', async () => {
    const payments = await paymentsAfter(charge(10_001))
    expect(await payments.react(cancelled())).to.deep.equal([true])
    expect(await payments.get())
      .to.include({ status: 'Rejected' })
      .and.not.to.have.property('refundedAt')
    expect(await payments.state()).to.have.all.keys('PaymentRejected', 'OrderCancelled')
    expect(namesIn(payments.announced())).to.deep.equal(['PaymentRejected'])
  })

  it('becomes rejected without a charge if the cancellation arrives first', async () => {
    const payments = await paymentsAfter(cancel)
    expect(await payments.get()).to.equal(undefined)
    expect((await payments.page()).items).to.deep.equal([])
    await payments.react(created())
    expect(await payments.get()).to.include({
      status: 'Rejected',
      policy: 'cancelled-before-payment@1',
      reason: 'the order was cancelled before it was charged',
    })
    expect((await payments.page()).items).to.deep.equal([await payments.get()])
  })

  it('becomes rejected without a charge if its order expires before a decision', async () => {
    const expiry = expired()
    const payments = await paymentsAfter(({ react }) => react(expiry))
    expect(payments.announced().map(({ Name, Payload }) => [Name, Payload])).to.deep.equal([
      [
        'PaymentRejected',
        {
          ...{ PaymentId: paymentId, OrderId: orderId, Amount: 42.5, Policy: 'expired@1', Source: 'OrderCreated' },
          Reason: 'the order was not paid in time',
        },
      ],
    ])
    const before = await payments.state()
    expect(await payments.react(created())).to.deep.equal([false])
    expect(await payments.react(created(1)).catch(refusal)).to.include({ code: 'conflicting-order' })
    expect(await payments.make().catch(refusal)).to.include({ code: 'payment-exists' })
    expect(await payments.state()).to.deep.equal(before)
    expect(await (await rebuilt(expiry, ...payments.announced())).state()).to.deep.equal(before)
  })

  // apache/servicecomb-pack#346: a slow booking ended after its compensation, and remained.
  for (const [type, call] of [
    ['state.sqlite', 'transact'],
    ['state.postgresql', 'save'],
  ] as const) {
    it(`becomes rejected without a charge if its order expires while a slow process decides about the charge, on ${type}`, async () => {
      const sidecar = new FakeSidecar(type)
      const write = sidecar[call].bind(sidecar) as (...args: unknown[]) => Promise<void>
      const [writing, continued] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
      Object.assign(sidecar, {
        async [call](...args: unknown[]) {
          Object.assign(sidecar, { [call]: write })
          writing.resolve()
          await continued.promise
          await write(...args)
        },
      })
      const [slow, fast] = [openPayments({ sidecar }), openPayments({ sidecar })]
      const charging = slow.react(created())
      await writing.promise
      await expire(fast)
      continued.resolve()
      await charging
      expect(slow.announced().map(({ Name }) => Name)).to.deep.equal(['PaymentRejected'])
      expect(await slow.get()).to.include({ status: 'Rejected', policy: 'expired@1' })
    })
  }

  const decided = {
    approved: [charge()],
    rejected: [charge(20_000)],
    'paid by hand': [pay(42.5)],
    refunded: [charge(), cancel],
    'rejected by an expiry': [expire],
  }
  for (const [what, actions] of Object.entries(decided)) {
    it(`announces its decision again, unchanged, each time its order expires: ${what}`, async () => {
      const payments = await paymentsAfter(...actions)
      const { sidecar } = payments
      const decisions = async () => ({ ...(await payments.state()), OrderExpired: undefined })
      const [before, events, first] = [await decisions(), payments.announced(), sidecar.published[0]]
      for (const process of [payments, payments, openPayments({ sidecar })]) {
        const { length } = sidecar.published
        await expire(process)
        // A new process also announces events again that may be missing from the log.
        expect(sidecar.published.slice(length).map(({ value }) => String(value))).to.include(String(first?.value))
        if (process === payments) expect(sidecar.published).to.have.length(length + 1)
      }
      expect([await decisions(), payments.announced()]).to.deep.equal([before, events])
    })
  }

  it('becomes rejected without a charge if a rebuild restored only the refund of an earlier payment', async () => {
    const events = await announcedAfter({}, charge(), cancel)
    const payments = await rebuilt(...events.filter(({ Name }) => Name === 'PaymentRefunded'))
    await payments.react(created())
    expect(await payments.get()).to.include({ status: 'Rejected', policy: 'cancelled-before-payment@1' })
  })

  it('charges nothing for a cancelled order and keeps its decision, in any sequence', async () => {
    const actions = { charge: charge(), 'charge 20,000': charge(20_000), pay: pay(42.5), cancel, expire }
    const isConflict = (error: unknown) => expect(refusal(error).code).to.equal('conflicting-order')
    const property = fc.asyncProperty(fc.array(fc.constantFrom(...Object.keys(actions))), async (names) => {
      const payments = openPayments()
      const decisions = new Set<string>()
      for (const name of names) {
        await actions[name as keyof typeof actions](payments).catch(isConflict)
        const { PaymentApproved, PaymentRejected } = await payments.state()
        for (const decision of [PaymentApproved, PaymentRejected]) if (decision) decisions.add(JSON.stringify(decision))
      }
      expect(decisions.size).to.be.at.most(1)
      if (names.includes('cancel')) expect((await payments.get())?.status).not.to.equal('Approved')
    })
    await fc.assert(property)
  })

  it('does not depend on the sequence and repetition of its events', async () => {
    // Two stores decide differently about the same order, for example if one of them was restored from a backup.
    const histories = [
      await announcedAfter({}, charge(1), cancel),
      await announcedAfter({}, charge(2), cancel),
      await announcedAfter({ policy: rejecting }, charge(1)),
      await announcedAfter({ policy: rejecting }, charge(2)),
    ]
    const all = [...histories.flat(), cancelled(), cancelled()]
    const property = fc.asyncProperty(
      fc.array(fc.constantFrom(...all)),
      fc.infiniteStream(fc.nat()),
      async (events, random) => {
        const shuffled = [...events, ...events.slice(0, 3)]
          .map((event) => ({ event, place: random.next().value as number }))
          .sort((a, b) => a.place - b.place)
          .map(({ event }) => event)
        expect(await (await rebuilt(...shuffled)).state()).to.deep.equal(await (await rebuilt(...events)).state())
      },
    )
    await fc.assert(property)
  })

  const [ten, eleven] = ['2026-11-21T10:00:00.000Z', '2026-11-21T11:00:00.000Z']
  type Fields = { CreationDate?: string; CorrelationId?: string; Headers?: { CausationId: string } }
  const [lower, upper] = ['00000000-0000-4000-8000-000000000000', 'ffffffff-ffff-4fff-8fff-ffffffffffff']
  const earlier: [string, Fields, Fields][] = [
    ['earlier', { CreationDate: ten, CorrelationId: upper }, { CreationDate: eleven, CorrelationId: lower }],
    [
      'smaller by cause, at the same time',
      { Headers: { CausationId: lower }, CorrelationId: upper },
      { Headers: { CausationId: upper }, CorrelationId: lower },
    ],
    [
      'smaller by content, at the same time and with the same cause',
      { CorrelationId: lower },
      { CorrelationId: upper },
    ],
  ]
  for (const [what, first, second] of earlier) {
    it(`keeps one of two decisions or refunds: the event that is ${what}`, async () => {
      for (const event of await announcedAfter({}, charge(), cancel)) {
        const [kept, dropped] = [first, second].map((fields) => ({ ...event, ...fields })) as [Announced, Announced]
        const payments = await rebuilt(dropped)
        expect(await payments.restore(kept)).to.deep.equal([true])
        const state = await payments.state()
        expect(state).to.deep.equal({ [event.Name]: kept })
        expect(await payments.restore(dropped, structuredClone(kept))).to.deep.equal([false, false])
        expect(await payments.state()).to.deep.equal(state)
      }
    })
  }

  it('keeps one of two decisions of the same time if tenants share documents: the event with the smaller Id', async () => {
    const announcedFor = (id: string) =>
      announcedAfter({}, ({ react }) => react(created(1, { tenant: { id, userId: '' } })))
    const [one, other] = [...(await announcedFor('acme')), ...(await announcedFor('other'))] as [Announced, Announced]
    const [kept, dropped] = one.Id < other.Id ? [one, other] : [other, one]
    expect(kept.CreationDate).to.equal(dropped.CreationDate)
    for (const events of [
      [kept, dropped],
      [dropped, kept],
    ]) {
      const payments = openPayments({ isShared: true })
      // The content of the dropped event is smaller, so that a comparison of whole texts would give another result.
      const smaller = { ...dropped, Headers: { CausationId: lower } } as unknown as Announced
      await payments.restore(...events.map((event) => (event === dropped ? smaller : event)))
      expect(await payments.state()).to.deep.equal({ PaymentApproved: kept })
    }
  })

  it('prefers an approval to a rejection, as the order does', async () => {
    const events = [
      ...(await announcedAfter({ policy: rejecting, now: () => new Date(ten) }, charge())),
      ...(await announcedAfter({ policy: approving, now: () => new Date(eleven) }, charge())),
    ]
    expect(namesIn(events)).to.deep.equal(['PaymentRejected', 'PaymentApproved'])
    for (const some of [events, events.toReversed()])
      expect(await (await rebuilt(...some)).get()).to.include({ status: 'Approved', createdAt: eleven })
  })

  it('becomes refunded by a repeated cancellation if a rebuild restored only the first cancellation', async () => {
    const cancellation = cancelled()
    const payments = await rebuilt(...(await announcedAfter({}, charge())), cancellation)
    expect((await payments.get())?.status).to.equal('Approved')
    await payments.react(cancellation)
    expect((await payments.get())?.status).to.equal('Refunded')
    expect(namesIn(payments.announced())).to.deep.equal(['PaymentRefunded'])
  })
})

describe('payments of requests', () => {
  const tenants = ['acme', 'other'].map((id) => ({ id, userId: '' }))
  const codeOf = async (made: Promise<unknown>) => refusal(await made.catch((error: unknown) => error)).code

  it('refuses an Idempotency-Key with another order or another amount, and names the payment', async () => {
    const payments = openPayments()
    const request = { idempotencyKey: 'key' }
    const { view } = await payments.make(request)
    const refused = [{ orderId: randomUUID() }, { amount: 42 }].map((change) => ({ ...request, ...change }))
    for (const again of refused) {
      const error = refusal(await payments.make(again).catch((thrown: unknown) => thrown))
      expect(error).to.deep.include({ code: 'idempotency-key-reused', details: { paymentId } })
    }
    expect((await payments.make(request)).view).to.deep.equal(view)
    expect(await codeOf(payments.make({ idempotencyKey: 'another' }))).to.equal('payment-exists')
    expect(await codeOf(payments.make({}))).to.equal('payment-exists')
    expect(namesIn(payments.announced())).to.deep.equal(['PaymentApproved'])
  })

  it('returns the refunded payment to a request that is sent again with the same key', async () => {
    const payments = openPayments()
    const request = { idempotencyKey: 'key' }
    const { view } = await payments.make(request)
    await payments.react(cancelled())
    const refundedAt = '2026-11-21T11:00:00.000Z'
    expect((await payments.make(request)).view).to.deep.equal({ ...view, status: 'Refunded', refundedAt })
    expect(namesIn(payments.announced())).to.deep.equal(['PaymentApproved', 'PaymentRefunded'])
  })

  it('accepts the same key and the same order from two tenants', async () => {
    const payments = openPayments()
    for (const tenant of tenants) {
      const requests: Request[] = [{ amount: 1 }, { amount: 1, orderId: randomUUID() }]
      await payments.make({ ...requests[0], tenant, idempotencyKey: 'key' })
      expect(await codeOf(payments.make({ ...requests[1], tenant, idempotencyKey: 'key' }))).to.equal(
        'idempotency-key-reused',
      )
      expect((await payments.page(tenant)).items).to.deep.equal([await payments.get(tenant)])
    }
    expect(await payments.get()).to.equal(undefined)
    const announced = payments.announced()
    expect(announced.map(({ TenantID }) => TenantID)).to.deep.equal(['acme', 'other'])
    expect(new Set(announced.map(({ Headers }) => Headers?.CausationId)).size).to.equal(2)
  })

  it('uses the trace of a request as the conversation of its payment', async () => {
    const payments = openPayments()
    const traceId = randomUUID()
    const { view } = await payments.make({ traceId })
    expect(view).to.include({ orderId, traceId, correlationId: traceId, source: 'Manual' })
    const other = openPayments()
    const { view: untraced } = await other.make()
    expect(untraced.traceId).to.equal(untraced.correlationId).and.not.to.equal(traceId)
  })

  it('announces a cause only if the request has a key', async () => {
    const sidecar = new FakeSidecar()
    const payments = await paymentsWith({ sidecar }, pay(42.5))
    expect(payments.announced().map((event) => event.Headers)).to.deep.equal([undefined])
    expect([...sidecar.documents.keys()].filter((key) => key.endsWith('/claim'))).to.deep.equal([])
  })
})
