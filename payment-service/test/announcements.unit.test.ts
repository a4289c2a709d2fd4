import { randomUUID } from 'node:crypto'
import { checkPayload, parseEnvelope } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import fc from 'fast-check'
import { announcedFact, refundOf, resultOf } from '../src/announcements.ts'
import { type Cause, type Decision, PaymentError, type PaymentState } from '../src/domain/payment.ts'

const app = { id: randomUUID(), name: 'payment-service' }
type Announced = Parameters<typeof announcedFact>[1]

const received = (envelope: unknown) =>
  checkPayload(parseEnvelope(Buffer.from(JSON.stringify(envelope)))) as unknown as Announced

const anyCause: fc.Arbitrary<Cause> = fc.record({
  causationId: fc.uuid(),
  correlationId: fc.uuid(),
  traceId: fc.uuid(),
  at: fc
    .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
})
const anyPolicy = fc.string({ maxLength: 20 }).map((name) => `p${name}`)
const anyVerdict = fc.oneof(
  fc.record({ approved: fc.constant(true), policy: anyPolicy }),
  fc.record({
    approved: fc.constant(false),
    policy: anyPolicy,
    reason: fc.string({ minLength: 1, maxLength: 100 }),
  }),
)
const anyDecision: fc.Arbitrary<Decision> = fc
  .tuple(anyCause, fc.uuid(), fc.double({ min: 0, max: 1e12, noNaN: true }), anyVerdict)
  .map(([cause, orderId, amount, verdict]) => ({
    ...cause,
    orderId,
    amount: Math.abs(amount),
    source: 'OrderCreated',
    ...verdict,
  }))

describe('announcements of payments', () => {
  it('restores all stored facts of a decision and a refund', () => {
    const property = fc.property(anyDecision, anyCause, (decision, refund) => {
      const state: PaymentState = { decision, cancelled: true, refund }
      expect(announcedFact(app, received(resultOf(app, state)))).to.deep.equal({ type: 'decided', decision })
      if (!decision.approved) return
      expect(announcedFact(app, received(refundOf(app, state)))).to.deep.equal({ type: 'refunded', refund })
    })
    fc.assert(property)
  })

  it('rejects an announcement from another publisher', () => {
    const [decision] = fc.sample(anyDecision, 1) as [Decision]
    const own = received(resultOf(app, { decision }))
    const foreign: Announced[] = [
      { ...own, AppId: randomUUID() },
      { ...own, Id: randomUUID() },
      { ...own, Headers: {} },
    ]
    for (const event of foreign)
      expect(() => announcedFact(app, event))
        .to.throw(PaymentError)
        .with.property('code', 'foreign-payment')
  })
})
