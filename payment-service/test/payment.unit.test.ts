import { expect } from 'chai'
import fc from 'fast-check'
import {
  type Cause,
  type Charge,
  type Decision,
  decide,
  evolve,
  ownerOf,
  type PaymentCommand,
  type PaymentFact,
  type PaymentState,
  paymentOf,
} from '../src/domain/payment.ts'
import { amountLimit } from '../src/domain/policy.ts'

const policy = amountLimit(10_000)
const cause = { causationId: 'e1', correlationId: 'c', traceId: 't', at: '2026-11-21T10:00:00.000Z' }
const charge = (changes: Partial<Charge> = {}): PaymentCommand => ({
  type: 'charge',
  charge: { ...cause, orderId: 'o', amount: 42.5, source: 'OrderCreated', ...changes },
})
const cancel: PaymentCommand = {
  type: 'cancel',
  cause: { ...cause, causationId: 'e2', at: '2026-11-21T11:00:00.000Z' },
}

function stateAfter(...commands: PaymentCommand[]): PaymentState {
  return commands.reduce((state: PaymentState, command) => {
    const fact = decide(state, command, policy)
    return fact ? evolve(state, fact) : state
  }, {})
}
const statusAfter = (...commands: PaymentCommand[]) => paymentOf('p', stateAfter(...commands))?.status

describe('payment', () => {
  it('becomes approved up to the limit, and rejected with a reason above it', () => {
    expect(statusAfter(charge({ amount: 10_000 }))).to.equal('Approved')
    expect(paymentOf('p', stateAfter(charge({ amount: 10_000.01 })))).to.include({
      status: 'Rejected',
      policy: 'amount-limit@1',
      reason: 'the amount is above the limit of 10000',
    })
  })

  it('keeps the tenant and user of its order, if any', () => {
    for (const tenant of [
      { id: 'acme', userId: 'ada' },
      { id: 'acme', userId: '' },
      { id: '', userId: 'ada' },
    ]) {
      expect(ownerOf(tenant)).to.deep.equal({ tenant })
      expect(stateAfter(charge(ownerOf(tenant))).decision).to.deep.include({ tenant })
    }
    expect(ownerOf({ id: '', userId: '' })).to.deep.equal({})
  })

  it('keeps its first decision, whatever follows', () => {
    const again = charge({ amount: 1, causationId: 'e3', source: 'Manual' })
    expect(stateAfter(charge(), again)).to.deep.equal(stateAfter(charge()))
  })

  it('becomes refunded when its order is cancelled, with the time of the cancellation', () => {
    expect(paymentOf('p', stateAfter(charge(), cancel))).to.include({
      status: 'Refunded',
      createdAt: '2026-11-21T10:00:00.000Z',
      refundedAt: '2026-11-21T11:00:00.000Z',
    })
  })

  it('stays rejected when its order is cancelled', () => {
    expect(statusAfter(charge({ amount: 10_001 }), cancel)).to.equal('Rejected')
    expect(decide(stateAfter(charge({ amount: 10_001 })), cancel, policy)).to.deep.equal({ type: 'cancelled' })
  })

  it('becomes rejected without a charge if the cancellation arrives first', () => {
    expect(paymentOf('p', stateAfter(cancel))).to.equal(undefined)
    expect(paymentOf('p', stateAfter(cancel, charge()))).to.include({
      status: 'Rejected',
      policy: 'cancelled-before-payment@1',
      reason: 'the order was cancelled before it was charged',
    })
  })

  it('charges nothing for a cancelled order and keeps its decision, in any sequence', () => {
    const commands = fc.array(
      fc.constantFrom(charge(), charge({ amount: 20_000 }), charge({ source: 'Manual' }), cancel),
    )
    const property = fc.property(commands, (some) => {
      const states = some.map((_, index) => stateAfter(...some.slice(0, index + 1)))
      const decisions = new Set(states.flatMap(({ decision }) => (decision ? [JSON.stringify(decision)] : [])))
      expect(decisions.size).to.be.at.most(1)
      if (some.includes(cancel)) expect(statusAfter(...some)).not.to.equal('Approved')
    })
    fc.assert(property)
  })

  const anyCause = fc.record({
    causationId: fc.constantFrom('e1', 'e2'),
    correlationId: fc.constantFrom('c1', 'c2'),
    traceId: fc.constant('t'),
    at: fc.constantFrom('2026-11-21T10:00:00.000Z', '2026-11-21T11:00:00.000Z'),
  })
  const anyVerdict = fc.constantFrom(
    { approved: true, policy: 'p@1' },
    { approved: false, policy: 'p@1', reason: 'too much' },
  )
  const anyDecision: fc.Arbitrary<Decision> = fc
    .tuple(anyCause, fc.constantFrom(1, 2), anyVerdict)
    .map(([own, amount, verdict]) => ({ ...own, orderId: 'o', amount, source: 'OrderCreated', ...verdict }))
  const anyFact: fc.Arbitrary<PaymentFact> = fc.oneof(
    anyDecision.map((decision) => ({ type: 'decided' as const, decision })),
    anyCause.map((refund) => ({ type: 'refunded' as const, refund })),
    fc.constant({ type: 'cancelled' as const }),
  )

  it('does not depend on the sequence and repetition of its facts', () => {
    const property = fc.property(fc.array(anyFact), fc.infiniteStream(fc.nat()), (facts, random) => {
      const shuffled = [...facts, ...facts.slice(0, 3)]
        .map((fact) => ({ fact, place: random.next().value as number }))
        .sort((a, b) => a.place - b.place)
        .map(({ fact }) => fact)
      expect(shuffled.reduce(evolve, {})).to.deep.equal(facts.reduce(evolve, {}))
    })
    fc.assert(property)
  })

  const [ten, eleven] = ['2026-11-21T10:00:00.000Z', '2026-11-21T11:00:00.000Z']
  const earlier: [string, Partial<Cause>, Partial<Cause>][] = [
    ['earlier', { at: ten, causationId: 'e2' }, { at: eleven, causationId: 'e1' }],
    [
      'smaller by cause, at the same time',
      { causationId: 'e1', correlationId: 'd' },
      { causationId: 'e2', correlationId: 'c' },
    ],
    ['smaller by content, with the same cause', { correlationId: 'c' }, { correlationId: 'd' }],
  ]
  for (const [what, first, second] of earlier) {
    it(`keeps one of two decisions or refunds: the fact that is ${what}`, () => {
      // The cause is the last field, so that a comparison of whole texts would give another result.
      const causeOf = ({ causationId = 'e1', ...changes }: Partial<Cause>): Cause => {
        const { correlationId, traceId, at } = { ...cause, ...changes }
        return { correlationId, traceId, at, causationId }
      }
      const decided = (changes: Partial<Cause>): PaymentFact => ({
        type: 'decided',
        decision: { ...causeOf(changes), orderId: 'o', amount: 1, source: 'Manual', approved: true, policy: 'p@1' },
      })
      const refunded = (changes: Partial<Cause>): PaymentFact => ({ type: 'refunded', refund: causeOf(changes) })
      for (const fact of [decided, refunded]) {
        const [kept, dropped] = [fact(first), fact(second)]
        const state = evolve({}, kept)
        expect(evolve(evolve({}, dropped), kept)).to.deep.equal(state)
        expect(evolve(state, dropped)).to.equal(state)
        expect(evolve(state, structuredClone(kept))).to.equal(state)
      }
    })
  }

  it('prefers an approval to a rejection, as the order does', () => {
    const decided = (approved: boolean, at: string): PaymentFact => ({
      type: 'decided',
      decision: { ...cause, at, orderId: 'o', amount: 1, source: 'Manual', approved, policy: 'p@1' },
    })
    const facts = [decided(false, '2026-11-21T10:00:00.000Z'), decided(true, '2026-11-21T11:00:00.000Z')]
    expect(paymentOf('p', facts.reduce(evolve, {}))?.status).to.equal('Approved')
  })

  it('becomes refunded by a repeated cancellation if a rebuild restored only the first cancellation', () => {
    const rebuilt = evolve(stateAfter(charge()), { type: 'cancelled' })
    expect(paymentOf('p', rebuilt)?.status).to.equal('Approved')
    const fact = decide(rebuilt, cancel, policy)
    expect(fact && paymentOf('p', evolve(rebuilt, fact))?.status).to.equal('Refunded')
  })
})
