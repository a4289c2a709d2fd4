import type { FullEvent } from '@orderflow/envelope'
import { expect } from 'chai'
import fc from 'fast-check'
import { collect, type Facts, factOf, facts, timeOf } from '../../src/entity/facts.ts'

const payloads = {
  OrderCreated: { OrderId: 'o', CustomerName: 'Ada', CustomerTaxId: 'T', Total: 42.5 },
  OrderCancelled: { OrderId: 'o' },
  PaymentApproved: { PaymentId: 'p', OrderId: 'o', Amount: 42.5, Policy: 'amount-limit@1', Source: 'OrderCreated' },
  PaymentRejected: {
    PaymentId: 'p',
    OrderId: 'o',
    Amount: 42.5,
    Policy: 'amount-limit@1',
    Source: 'OrderCreated',
    Reason: 'too much',
  },
  PaymentRefunded: { PaymentId: 'p', OrderId: 'o', Amount: 42.5, Reason: 'cancelled' },
} as const

function event(
  Name: keyof typeof payloads,
  changes: { Id?: string; CorrelationId?: string; CreationDate?: string; Payload?: object } = {},
): FullEvent {
  const { Id = Name, CorrelationId = 'c', CreationDate = '2026-11-21T10:00:00Z', Payload = {} } = changes
  const envelope = { CorrelationId, TraceId: 't', AppId: 'a', AppName: 'app', Version: 1, Name, Id, CreationDate }
  return { ...envelope, Payload: { ...payloads[Name], ...Payload } } as unknown as FullEvent
}

const names = Object.keys(payloads) as (keyof typeof payloads)[]
type State = Facts<keyof typeof payloads>

const { initial, facts: collected } = facts(names)
const factsOf = (...events: FullEvent[]): State =>
  events.reduce<State>((state, each) => collect(collected, state, each), initial)

/** Returns true if an event does not change the facts, because its name has a fact that stays. */
function isKnown(known: FullEvent, event: FullEvent): boolean {
  const state = factsOf(known)
  return collect(collected, state, event) === state
}

describe('the facts of an entity', () => {
  it('depend only on the set of events, not on their sequence and repetition', () => {
    const anyEvent = fc
      .record({
        name: fc.constantFrom(...names),
        id: fc.constantFrom('1', '2', '3'),
        date: fc.constantFrom(
          '2026-11-21T10:00:00Z',
          '2026-11-21T12:00:00+02:00',
          '2026-11-21T10:00:00.0004Z',
          '2026-11-21T10:00:00.00040Z',
          '2026-11-21T12:00:00.000400001+02:00',
          '2026-11-21T11:00:00Z',
        ),
      })
      .map(({ name, id, date }) =>
        event(name, { Id: id, CreationDate: date, Payload: { Version: `${id}${Date.parse(date)}` } }),
      )
    const property = fc.property(fc.array(anyEvent), fc.infiniteStream(fc.nat()), (events, random) => {
      const shuffled = [...events, ...events.slice(0, 3)]
        .map((item) => ({ item, place: random.next().value as number }))
        .sort((a, b) => a.place - b.place)
        .map(({ item }) => item)
      expect(factsOf(...shuffled)).to.deep.equal(factsOf(...events))
    })
    fc.assert(property)
  })

  const earlier: [string, Parameters<typeof event>[1], Parameters<typeof event>[1]][] = [
    ['earlier', { Id: '2' }, { Id: '1', CreationDate: '2026-11-21T10:00:01Z' }],
    [
      'earlier, with another offset',
      { Id: '2', CreationDate: '2026-11-21T12:00:00+02:00' },
      { Id: '1', CreationDate: '2026-11-21T10:00:01Z' },
    ],
    [
      'earlier within one millisecond',
      { Id: '2', CreationDate: '2026-11-21T10:00:00.0001Z' },
      { Id: '1', CreationDate: '2026-11-21T10:00:00.0009Z' },
    ],
    [
      'earlier by a nanosecond, with another offset and other digits',
      { Id: '2', CreationDate: '2026-11-21T12:00:00.123456788+02:00' },
      { Id: '1', CreationDate: '2026-11-21T10:00:00.123456789Z' },
    ],
    [
      'earlier, with fewer digits',
      { Id: '2', CreationDate: '2026-11-21T10:00:00.1Z' },
      { Id: '1', CreationDate: '2026-11-21T10:00:00.1000001Z' },
    ],
    [
      'smaller by Id, with two spellings of the same date',
      { Id: '1', CreationDate: '2026-11-21T10:00:00.100000000Z' },
      { Id: '2', CreationDate: '2026-11-21T10:00:00.1Z' },
    ],
    ['smaller by Id, at the same time', { Id: '1', CorrelationId: 'd' }, { Id: '2', CorrelationId: 'c' }],
    ['smaller by content, with the same Id', { CorrelationId: 'c' }, { CorrelationId: 'd' }],
  ]
  for (const [what, first, second] of earlier) {
    it(`keep one of two events with the same name: the event that is ${what}`, () => {
      const [kept, dropped] = [event('OrderCancelled', first), event('OrderCancelled', second)]
      expect(factsOf(dropped, kept)).to.deep.equal({ OrderCancelled: kept })
      expect(factsOf(kept, dropped)).to.deep.equal({ OrderCancelled: kept })
      expect(isKnown(dropped, kept), 'the kept event is new').to.equal(false)
      expect(isKnown(kept, dropped), 'the dropped event is new').to.equal(true)
    })
  }

  it('keep a fact when its event arrives again', () => {
    expect(isKnown(event('PaymentApproved'), structuredClone(event('PaymentApproved')))).to.equal(true)
  })

  it('stay unchanged by an event that they do not collect', () => {
    const { facts: some } = facts(['OrderCreated'])
    const state: Facts<'OrderCreated'> = { OrderCreated: event('OrderCreated') as never }
    expect(collect(some, state, event('OrderCancelled'))).to.equal(state)
  })

  it('refuse an event that contradicts the known event of its name, even an earlier one', () => {
    const settled: string[][] = []
    const { facts: strict } = facts(['OrderCreated', 'OrderCancelled'], (known, { Id }) => {
      settled.push([known.Id, Id])
      throw new Error('a contradiction')
    })
    const first = collect(strict, {}, event('OrderCancelled', { Id: '1' }))
    const state = collect(strict, first, event('OrderCreated', { Id: '2' }))
    const earlier = event('OrderCreated', { Id: '0', CreationDate: '2026-11-20T10:00:00Z' })
    expect(() => collect(strict, state, earlier)).to.throw('a contradiction')
    expect(settled).to.deep.equal([['2', '0']])
    expect(state.OrderCreated?.Id).to.equal('2')
  })

  it('keep only the contract’s fields of an event, in a fixed order', () => {
    const received = event('OrderCreated', { Payload: { Extra: 'extra' } })
    const { Id, CorrelationId, TraceId, AppId, AppName, Version, Name, CreationDate } = received
    const Payload = payloads.OrderCreated
    const fact = { Id, CorrelationId, TraceId, AppId, AppName, Version, Name, CreationDate, Payload }
    const kept = factOf(Object.assign({ Headers: { a: 1 }, Extra: true }, received))
    expect(JSON.stringify(kept)).to.equal(JSON.stringify(fact))
    const { AppName: _, ...withoutName } = { ...received, Payload: { Extra: 1, ...received.Payload } }
    const { AppName: __, ...nameless } = fact
    const keptNameless = factOf(withoutName as unknown as FullEvent)
    expect(JSON.stringify(keptNameless)).to.equal(JSON.stringify(nameless))
    expect(keptNameless).not.to.have.property('AppName')
  })

  it('keep one of an event’s headers: its cause', () => {
    const kept = (Headers: object) => factOf({ ...event('OrderCreated'), Headers } as FullEvent).Headers
    expect(kept({ CausationId: 'c', Revision: 3, Other: 'o' })).to.deep.equal({ CausationId: 'c' })
    expect(kept({ Revision: 3 })).to.equal(undefined)
    expect(kept({ CausationId: 1 })).to.equal(undefined)
  })

  it('timeOf returns times that an event can contain, also if a year is added to them', () => {
    const timeFor = (CreationDate: string) => timeOf({ CreationDate }).toISOString()
    expect(timeFor('2026-11-21T12:00:00.000400001+02:00')).to.equal('2026-11-21T10:00:00.000Z')
    expect(timeFor('0001-01-01T00:00:00+23:59')).to.equal('1970-01-01T00:00:00.000Z')
    expect(timeFor('9999-12-31T23:59:59.999999999Z')).to.equal('9998-01-01T00:00:00.000Z')
  })

  it('keep the tenant and user that an event has', () => {
    const kept = (tenant: object) => {
      const { TenantID, TenantUserID } = factOf({ ...event('OrderCreated'), ...tenant })
      return { ...(TenantID !== undefined && { TenantID }), ...(TenantUserID !== undefined && { TenantUserID }) }
    }
    for (const tenant of [{ TenantID: 'acme' }, { TenantUserID: 'ada' }, { TenantID: 'acme', TenantUserID: 'ada' }, {}])
      expect(kept(tenant)).to.deep.equal(tenant)
    expect(kept({ TenantID: '', TenantUserID: '' })).to.deep.equal({})
  })
})
