import { randomUUID } from 'node:crypto'
import {
  checkPayload,
  deterministicId,
  type FullEvent,
  noTenant,
  parseEnvelope,
  type Tenant,
} from '@orderflow/envelope-schema'
import { Refused, SidecarError } from '@orderflow/service-kit'
import { FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Verdict } from '../src/policy.ts'
import { type Announced, app, cancelled, created, openPayments, orderId, paymentId } from './payments.ts'

/** Returns an announcement as a reader of the log receives it. */
const received = (event: Announced) =>
  checkPayload(parseEnvelope(Buffer.from(JSON.stringify(event)))) as unknown as Announced

const causeOf = ({ Headers }: FullEvent) => Headers?.CausationId
const down = () => new SidecarError('call', new Error('connection refused'))

const anyPolicy = fc.string({ maxLength: 20 }).map((name) => `p${name}`)
const anyVerdict: fc.Arbitrary<Verdict> = fc.oneof(
  fc.record({ approved: fc.constant(true), policy: anyPolicy }),
  fc.record({
    approved: fc.constant(false),
    policy: anyPolicy,
    reason: fc.string({ minLength: 1, maxLength: 100 }),
  }),
)
const anyAmount = fc.integer({ min: 0, max: 1e14 }).map((cents) => cents / 100)
const anyTime = fc.date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
const anyTenant: fc.Arbitrary<Tenant> = fc.record({
  id: fc.constantFrom('', 'acme'),
  userId: fc.constantFrom('', 'ada'),
})
const anyKey = fc.option(fc.uuid(), { nil: undefined })

describe('announcements of payments', () => {
  it('restores all stored facts of a decision and a refund', async () => {
    const property = fc.asyncProperty(
      ...[anyAmount, anyVerdict, anyTime, anyTenant, fc.boolean(), anyKey],
      async (amount, verdict, time, tenant, isRequested, idempotencyKey) => {
        const live = openPayments({ policy: () => verdict, now: () => time })
        if (!isRequested) await live.react(created(amount, { tenant }))
        else await live.make({ amount, tenant, ...(idempotencyKey && { idempotencyKey }) })
        const cancellation = cancelled({ tenant })
        await live.react(cancellation)
        const announced = live.announced()
        expect(announced.map(({ Name }) => Name)).to.deep.equal(
          verdict.approved ? ['PaymentApproved', 'PaymentRefunded'] : ['PaymentRejected'],
        )
        const again = openPayments()
        await again.restore(...announced.map(received), cancellation)
        expect(await again.state(tenant)).to.deep.equal(await live.state(tenant))
        expect(again.announced()).to.deep.equal([])
      },
    )
    await fc.assert(property)
  })

  it('derives the Id of an announcement from the payment, the event and the tenant', async () => {
    for (const tenant of [noTenant, { id: 'acme', userId: 'ada' }]) {
      const payments = openPayments()
      await payments.react(created(42.5, { tenant }), cancelled({ tenant }))
      const ids = payments.announced().map(({ Id }) => Id)
      const parts = tenant.id ? [tenant.id] : []
      expect(ids).to.deep.equal(
        ['PaymentApproved', 'PaymentRefunded'].map((name) => deterministicId('event', paymentId, name, ...parts)),
      )
    }
  })

  it('announces a payment and its refund in the conversation and the trace of their causes, and names the causes', async () => {
    const payments = openPayments()
    const causes = [created(), cancelled()].map((event) => ({ ...event, CorrelationId: randomUUID() }))
    await payments.react(...causes)
    const ids = (events: FullEvent[], cause: (event: FullEvent) => unknown) =>
      events.map((event) => [cause(event), event.CorrelationId, event.TraceId])
    expect(ids(payments.announced(), causeOf)).to.deep.equal(ids(causes, ({ Id }) => Id))
  })

  it('derives the CausationId of a requested payment from the Idempotency-Key and the tenant', async () => {
    for (const tenant of [noTenant, { id: 'acme', userId: '' }]) {
      const payments = openPayments()
      await payments.make({ tenant, idempotencyKey: 'key' })
      const parts = [app.id, ...(tenant.id ? [tenant.id] : []), 'key']
      expect(payments.announced().map(causeOf)).to.deep.equal([deterministicId('payment-key', ...parts)])
    }
  })

  it('restores the claims of Idempotency-Keys, and no claims for other causes', async () => {
    const live = openPayments()
    const other = randomUUID()
    await live.make({ idempotencyKey: 'key' })
    await live.react(created(42.5, { OrderId: other }), cancelled())
    const again = openPayments()
    await again.restore(...live.announced().map(received))
    const claims = [...again.sidecar.documents].filter(([key]) => key.endsWith('/claim'))
    expect(claims.map(([key, { value }]) => [key, value])).to.deep.equal([
      [`payment-request/${deterministicId('payment-key', app.id, 'key')}/claim`, { id: paymentId, revision: 0 }],
    ])
    const { view } = await again.make({ idempotencyKey: 'key' })
    expect(view).to.include({ orderId, status: 'Refunded' })
    const refused = await again.make({ orderId: other, idempotencyKey: 'key' }).catch((error: unknown) => error)
    expect(refused).to.be.instanceOf(Refused).and.to.include({ code: 'idempotency-key-reused' })
  })

  it('rejects an announcement from another publisher', async () => {
    const payments = openPayments()
    await payments.react(created(), cancelled(), created(20_000, { OrderId: randomUUID() }))
    const own = payments.announced()
    expect(own.map(({ Name }) => Name)).to.deep.equal(['PaymentApproved', 'PaymentRefunded', 'PaymentRejected'])
    for (const event of own.map(received)) {
      const foreign: Announced[] = [
        { ...event, AppId: randomUUID() },
        { ...event, Id: randomUUID() },
        { ...event, TenantID: 'acme' },
        { ...event, Payload: { ...event.Payload, OrderId: randomUUID() } } as Announced,
      ]
      for (const one of foreign) {
        const again = openPayments()
        const error = await again.restore(one).catch((thrown: unknown) => thrown)
        expect(error).to.be.instanceOf(Refused).and.to.include({ code: 'foreign-payment' })
        expect(again.sidecar.documents.size).to.equal(0)
      }
      expect(await openPayments().restore(event)).to.deep.equal([true])
    }
  })

  for (const type of ['state.sqlite', 'state.postgresql', 'state.mongodb']) {
    it(`announces an event with the same bytes in each process, after a failed publication, on ${type}`, async () => {
      const sidecar = new FakeSidecar(type)
      const causes = [created(), cancelled()]
      for (const cause of causes) {
        sidecar.failures.publish.push(down())
        const error = await openPayments({ sidecar, now: () => new Date() })
          .react(cause)
          .catch((thrown: unknown) => thrown)
        expect(error).to.be.instanceOf(SidecarError)
      }
      const state = await openPayments({ sidecar }).state()
      for (const now of [new Date(0), new Date(1)]) {
        const payments = openPayments({ sidecar, now: () => now })
        await payments.react(...causes)
        expect(payments.announced()).to.deep.equal([state.PaymentApproved, state.PaymentRefunded])
      }
      expect(sidecar.published.length, 'repeated publications').to.be.above(2)
    })
  }

  it('announces an approval whose publication failed before its refund', async () => {
    const sidecar = new FakeSidecar()
    sidecar.failures.publish.push(down())
    await openPayments({ sidecar })
      .make()
      .catch(() => {})
    expect(sidecar.published).to.deep.equal([])
    const other = openPayments({ sidecar })
    await other.react(cancelled())
    expect(other.announced().map(({ Name }) => Name)).to.deep.equal(['PaymentApproved', 'PaymentRefunded'])
  })
})
