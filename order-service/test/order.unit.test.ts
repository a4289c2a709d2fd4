import { expect } from 'chai'
import fc from 'fast-check'
import {
  decideCancel,
  evolve,
  factNames,
  factOf,
  isSameOrder,
  OrderError,
  type OrderEvent,
  type OrderFacts,
  orderOf,
  settle,
} from '../src/domain/order.ts'

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
): OrderEvent {
  const { Id = Name, CorrelationId = 'c', CreationDate = '2026-11-21T10:00:00Z', Payload = {} } = changes
  const envelope = { CorrelationId, TraceId: 't', AppId: 'a', AppName: 'app', Version: 1, Name, Id, CreationDate }
  return { ...envelope, Payload: { ...payloads[Name], ...Payload } } as OrderEvent
}

const factsOf = (...events: OrderEvent[]) => events.reduce(evolve, {} as OrderFacts)

/** The table of docs/orders.md: events and the resulting status. */
const statuses: [(keyof typeof payloads)[], string | undefined][] = [
  [[], undefined],
  [['PaymentApproved'], undefined],
  [['OrderCancelled', 'PaymentApproved', 'PaymentRefunded'], undefined],
  [['OrderCreated'], 'Created'],
  [['OrderCreated', 'PaymentApproved'], 'Paid'],
  [['OrderCreated', 'PaymentRejected'], 'PaymentRejected'],
  [['OrderCreated', 'PaymentApproved', 'PaymentRejected'], 'Paid'],
  [['OrderCreated', 'OrderCancelled'], 'Cancelled'],
  [['OrderCreated', 'OrderCancelled', 'PaymentApproved'], 'Cancelled'],
  [['OrderCreated', 'OrderCancelled', 'PaymentRejected'], 'Cancelled'],
  [['OrderCreated', 'OrderCancelled', 'PaymentApproved', 'PaymentRefunded'], 'Refunded'],
  [['OrderCreated', 'PaymentRefunded'], 'Refunded'],
]

describe('order', () => {
  for (const [names, status] of statuses) {
    it(`becomes ${status ?? 'not visible'} after ${names.join(', ') || 'no events'}`, () => {
      expect(orderOf(factsOf(...names.map((name) => event(name))))?.status).to.equal(status)
    })
  }

  it('does not depend on the sequence and repetition of its events', () => {
    const anyEvent = fc
      .record({
        name: fc.constantFrom(...factNames),
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
    it(`keeps one of two events with the same name: the event that is ${what}`, () => {
      const [kept, dropped] = [event('OrderCancelled', first), event('OrderCancelled', second)]
      expect(factsOf(dropped, kept)).to.deep.equal({ OrderCancelled: kept })
      expect(factsOf(kept, dropped)).to.deep.equal({ OrderCancelled: kept })
      expect(settle(dropped, kept)).to.equal(kept)
      expect(settle(kept, dropped)).to.equal(kept)
    })
  }

  it('keeps a fact when its event arrives again', () => {
    const known = event('PaymentApproved')
    expect(settle(known, structuredClone(known))).to.equal(known)
  })

  it('refuses an event with another customer or total for the same OrderId, and keeps the known values', () => {
    const known = event('OrderCreated')
    const other = event('OrderCreated', { Payload: { Total: 1 }, CreationDate: '2026-11-20T10:00:00Z' })
    expect(() => settle(known, other))
      .to.throw(OrderError, 'this OrderId already has an order with another payload')
      .and.include({ name: 'OrderError', code: 'conflicting-order' })
      .with.deep.property('details', { orderId: 'o' })
  })

  it('keeps only the contract’s fields of an event, in a fixed order', () => {
    const received = event('OrderCreated', { Payload: { Extra: 'extra' } })
    const kept = factOf(Object.assign({ Headers: { a: 1 }, Extra: true }, received))
    const { Id, CorrelationId, TraceId, AppId, Version, Name, CreationDate } = received
    const Payload = payloads.OrderCreated
    const fact = { Id, CorrelationId, TraceId, AppId, Version, Name, CreationDate, Payload }
    expect(JSON.stringify(kept)).to.equal(JSON.stringify(fact))
  })

  it('keeps the tenant and user of its event, if any', () => {
    const kept = (tenant: object) => {
      const { TenantID, TenantUserID } = factOf({ ...event('OrderCreated'), ...tenant })
      return { ...(TenantID !== undefined && { TenantID }), ...(TenantUserID !== undefined && { TenantUserID }) }
    }
    for (const tenant of [{ TenantID: 'acme' }, { TenantUserID: 'ada' }, { TenantID: 'acme', TenantUserID: 'ada' }, {}])
      expect(kept(tenant)).to.deep.equal(tenant)
    expect(kept({ TenantID: '', TenantUserID: '' })).to.deep.equal({})
  })

  it('shows its customer, time and ids', () => {
    expect(orderOf(factsOf(event('OrderCreated')))).to.deep.equal({
      id: 'o',
      customerName: 'Ada',
      customerTaxId: 'T',
      total: 42.5,
      status: 'Created',
      createdAt: '2026-11-21T10:00:00Z',
      correlationId: 'c',
      traceId: 't',
    })
  })

  it('shows its payment, and the reason of a rejection', () => {
    const paid = orderOf(factsOf(event('OrderCreated'), event('PaymentApproved')))
    expect(paid?.payment).to.deep.equal({ id: 'p', amount: 42.5, policy: 'amount-limit@1' })
    const order = orderOf(factsOf(event('OrderCreated'), event('PaymentRejected')))
    expect(order?.payment).to.deep.equal({ id: 'p', amount: 42.5, policy: 'amount-limit@1', reason: 'too much' })
  })

  it('warns about a charged amount that differs from its total', () => {
    const facts = factsOf(event('OrderCreated'), event('PaymentApproved', { Payload: { Amount: 5 } }))
    expect(orderOf(facts)?.warning).to.equal('5 was charged, but the total is 42.5')
    expect(orderOf(factsOf(event('OrderCreated'), event('PaymentApproved')))).not.to.have.property('warning')
  })

  it('equals an order that differs only in fields outside the contract', () => {
    const created = (payload: object) =>
      event('OrderCreated', { Payload: payload }) as Parameters<typeof isSameOrder>[0]
    expect(isSameOrder(created({}), created({ Extra: 'extra' }))).to.equal(true)
    expect(isSameOrder(created({ Total: 0 }), created({ Total: -0 }))).to.equal(true)
    expect(isSameOrder(created({}), created({ Total: 42.51 }))).to.equal(false)
    expect(isSameOrder(created({}), created({ CustomerTaxId: 't' }))).to.equal(false)
    expect(isSameOrder(created({}), created({ CustomerName: 'Bob' }))).to.equal(false)
  })

  it('allows one cancellation, unless its payment was rejected', () => {
    const knowing = (...names: (keyof typeof payloads)[]) => decideCancel(factsOf(...names.map((name) => event(name))))
    expect(knowing('OrderCreated')).to.equal('cancel')
    expect(knowing('OrderCreated', 'PaymentApproved')).to.equal('cancel')
    expect(knowing('OrderCreated', 'OrderCancelled')).to.equal('already')
    expect(knowing('OrderCreated', 'OrderCancelled', 'PaymentRejected')).to.equal('already')
    expect(knowing('OrderCreated', 'PaymentApproved', 'OrderCancelled', 'PaymentRefunded')).to.equal('already')
    expect(knowing('OrderCreated', 'PaymentRejected')).to.equal('refused')
  })

  it('allows another cancellation while the refund for the first one is missing', () => {
    const facts = factsOf(event('OrderCreated'), event('PaymentApproved'), event('OrderCancelled'))
    expect(decideCancel(facts)).to.equal('cancel')
  })
})
