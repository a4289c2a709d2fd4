import { randomUUID } from 'node:crypto'
import { type FullEvent, noTenant, type PayloadOf, upcast } from '@orderflow/envelope-schema'
import { createDocuments, currencyOf, openEntity, Refused } from '@orderflow/service-kit'
import { capturedLog, FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { type factNames, type Order, type OrderFacts, order } from '../src/order.ts'

type OrderEvent = FullEvent<(typeof factNames)[number]>

// A conversion to a newer version refuses ids that are no GUIDs.
const orderId = '7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11'
const paymentId = '8a5b431c-2e4a-5a35-86fa-306159454d19'

const payloads = {
  OrderCreated: { OrderId: orderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total: 42.5 },
  OrderCancelled: { OrderId: orderId },
  OrderReminded: { OrderId: orderId, PayableUntil: '2026-11-21T10:30:00.000Z' },
  OrderExpired: { OrderId: orderId, Total: 42.5 },
  PaymentApproved: {
    PaymentId: paymentId,
    OrderId: orderId,
    Amount: 42.5,
    Policy: 'amount-limit@1',
    Source: 'OrderCreated',
  },
  PaymentRejected: {
    PaymentId: paymentId,
    OrderId: orderId,
    Amount: 42.5,
    Policy: 'amount-limit@1',
    Source: 'OrderCreated',
    Reason: 'too much',
  },
  PaymentRefunded: { PaymentId: paymentId, OrderId: orderId, Amount: 42.5, Reason: 'cancelled' },
} as const

function event(
  Name: keyof typeof payloads,
  changes: { Id?: string; CorrelationId?: string; CreationDate?: string; Payload?: object } = {},
): OrderEvent {
  const { Id = Name, CorrelationId = 'c', CreationDate = '2026-11-21T10:00:00Z', Payload = {} } = changes
  const envelope = { CorrelationId, TraceId: 't', AppId: 'a', AppName: 'app', Version: 1, Name, Id, CreationDate }
  return { ...envelope, Payload: { ...payloads[Name], ...Payload } } as OrderEvent
}

/** Returns facts with one event of each name. */
const factsOf = (...events: OrderEvent[]): OrderFacts => Object.fromEntries(events.map((each) => [each.Name, each]))

const definition = order(currencyOf('EUR'), 30 * 60_000)
const orderOf = (facts: OrderFacts): Order | undefined => definition.view(facts, orderId)

/** Returns what a cancellation decides: the payloads of its events, by name; undefined if it changes nothing. */
const cancel = (facts: OrderFacts) =>
  definition.commands?.cancel(undefined, facts, { id: orderId, now: new Date(), newId: randomUUID })

/** Delivers events to orders in an empty store, and returns the facts of the order. */
async function received(events: readonly OrderEvent[], by: 'reactions' | 'rebuild' = 'reactions'): Promise<OrderFacts> {
  const orders = openOrders()
  const handlers = Object.assign({}, ...Object.values(orders[by]))
  for (const each of events) await handlers[each.Name](each)
  return orders.state(noTenant, orderId)
}

function openOrders() {
  const now = () => new Date()
  const app = { id: randomUUID(), name: 'order-service' }
  const { log } = capturedLog()
  const documents = createDocuments(new FakeSidecar(), now)
  const orders = openEntity(definition, { app, documents, publish: async () => {}, now, newId: randomUUID, log })
  return orders
}

/** Events and the resulting status, by docs/orders.md. */
const statuses: [(keyof typeof payloads)[], string | undefined][] = [
  [[], undefined],
  [['PaymentApproved'], undefined],
  [['OrderCancelled', 'PaymentApproved', 'PaymentRefunded'], undefined],
  [['OrderCreated'], 'Created'],
  [['OrderCreated', 'OrderReminded'], 'Created'],
  [['OrderCreated', 'OrderReminded', 'OrderExpired'], 'Created'],
  [['OrderCreated', 'OrderExpired', 'PaymentApproved'], 'Paid'],
  [['OrderCreated', 'OrderExpired', 'PaymentRejected', 'OrderCancelled'], 'Cancelled'],
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

  it('collects its events, with the earlier of two events of the same name', async () => {
    const first = event('OrderCancelled', { Id: '2' })
    const second = event('OrderCancelled', { Id: '1', CreationDate: '2026-11-21T10:00:01Z' })
    const { AppName: _, ...created } = upcast(event('OrderCreated'))
    for (const cancellations of [
      [first, second],
      [second, first],
    ]) {
      const facts = await received([...cancellations, event('OrderCreated')])
      expect(facts.OrderCreated).to.deep.include(created)
      expect([facts.OrderCancelled?.Id, Object.keys(facts).length]).to.deep.equal(['2', 2])
    }
  })

  it('keeps the same facts in a rebuild, which decides nothing', async () => {
    // The service does not receive its reminders and expiries, and a rebuild refuses those of others.
    const { OrderReminded: _reminded, OrderExpired: _expired, ...fromOthers } = payloads
    const events = Object.keys(fromOthers).map((name) => event(name as keyof typeof payloads))
    const live = await received(events)
    expect(Object.keys(live)).to.have.members(Object.keys(fromOthers))
    expect(await received(events, 'rebuild')).to.deep.equal(live)
    expect(await received(events.toReversed(), 'rebuild')).to.deep.equal(live)
    const created = event('OrderCreated', { Payload: { Total: 42.555 } })
    const error = await received([created]).catch((thrown: unknown) => thrown)
    expect(error).to.have.property('code', 'invalid-amount')
    expect((await received([created], 'rebuild')).OrderCreated?.Payload.Total).to.equal(42.555)
  })

  for (const [what, changes] of Object.entries({ total: { Total: 1 }, customer: { CustomerName: 'Bob' } })) {
    it(`refuses an event with another ${what} for the same OrderId, and keeps the known values`, async () => {
      const orders = openOrders()
      const { OrderCreated: react } = orders.reactions.orderevents as {
        OrderCreated: (event: OrderEvent) => Promise<unknown>
      }
      await react(event('OrderCreated'))
      const other = event('OrderCreated', { Id: 'other', Payload: changes, CreationDate: '2026-11-20T10:00:00Z' })
      const error = await react(other).catch((thrown: unknown) => thrown)
      expect(error).to.be.instanceOf(Refused).and.include({
        name: 'Refused',
        code: 'conflicting-order',
        message: 'this OrderId already has an order with another payload',
      })
      expect(error).to.have.deep.property('details', { orderId })
      expect((await orders.state(noTenant, orderId)).OrderCreated?.Payload).to.deep.equal(payloads.OrderCreated)
    })
  }

  it('shows its customer, time and ids', () => {
    expect(orderOf(factsOf(event('OrderCreated')))).to.deep.equal({
      id: orderId,
      customerName: 'Ada',
      customerTaxId: 'T',
      total: 42.5,
      currency: 'EUR',
      status: 'Created',
      createdAt: '2026-11-21T10:00:00Z',
      payableUntil: '2026-11-21T10:30:00.000Z',
      correlationId: 'c',
      traceId: 't',
    })
  })

  it('shows its payment, and the reason of a rejection', () => {
    const paid = orderOf(factsOf(event('OrderCreated'), event('PaymentApproved')))
    expect(paid?.payment).to.deep.equal({ id: paymentId, amount: 42.5, policy: 'amount-limit@1' })
    const order = orderOf(factsOf(event('OrderCreated'), event('PaymentRejected')))
    expect(order?.payment).to.deep.equal({ id: paymentId, amount: 42.5, policy: 'amount-limit@1', reason: 'too much' })
  })

  it('warns about a charged amount that differs from its total', () => {
    const facts = factsOf(event('OrderCreated'), event('PaymentApproved', { Payload: { Amount: 5 } }))
    expect(orderOf(facts)?.warning).to.equal('5 was charged, but the total is 42.5')
    expect(orderOf(factsOf(event('OrderCreated'), event('PaymentApproved')))).not.to.have.property('warning')
  })

  it('equals an order that differs only in fields outside the contract', () => {
    const created = (payload: object) => event('OrderCreated', { Payload: payload })
    const isSame = (one: OrderEvent, other: OrderEvent): boolean => {
      const settle = definition.facts?.settle as (known: OrderEvent, event: OrderEvent) => void
      try {
        settle(one, other)
        return true
      } catch (error) {
        expect(error).to.have.property('code', 'conflicting-order')
        return false
      }
    }
    expect(isSame(created({}), created({ Extra: 'extra' }))).to.equal(true)
    expect(isSame(created({ Total: 0 }), created({ Total: -0 }))).to.equal(true)
    expect(isSame(created({}), created({ Total: 42.51 }))).to.equal(false)
    expect(isSame(created({}), created({ CustomerTaxId: 't' }))).to.equal(false)
    expect(isSame(created({}), created({ CustomerName: 'Bob' }))).to.equal(false)
  })

  it('accepts a difference between two events of another name than OrderCreated', () => {
    const approved = (Amount: number) => event('PaymentApproved', { Payload: { Amount } })
    expect(() => definition.facts?.settle(approved(1) as FullEvent, approved(2) as FullEvent)).not.to.throw()
  })

  it('allows one cancellation, unless its payment was rejected', () => {
    const cancelling = (...names: (keyof typeof payloads)[]) => cancel(factsOf(...names.map((name) => event(name))))
    const cancellation: { OrderCancelled: PayloadOf<'OrderCancelled'> } = { OrderCancelled: { OrderId: orderId } }
    expect(cancelling('OrderCreated')).to.deep.equal(cancellation)
    expect(cancelling('OrderCreated', 'PaymentApproved')).to.deep.equal(cancellation)
    expect(cancelling('OrderCreated', 'OrderCancelled')).to.equal(undefined)
    expect(cancelling('OrderCreated', 'OrderCancelled', 'PaymentRejected')).to.equal(undefined)
    expect(cancelling('OrderCreated', 'PaymentApproved', 'OrderCancelled', 'PaymentRefunded')).to.equal(undefined)
    expect(() => cancelling('OrderCreated', 'PaymentRejected'))
      .to.throw(Refused)
      .with.property('code', 'not-cancellable')
  })

  it('refuses the cancellation of an unknown order, even if other events of the order have arrived', () => {
    for (const facts of [{}, factsOf(event('PaymentApproved')), factsOf(event('OrderCancelled'))])
      expect(() => cancel(facts))
        .to.throw(Refused, `There is no order ${orderId}.`)
        .with.property('code', 'not-found')
  })

  it('allows another cancellation while the refund for the first one is missing', () => {
    const facts = factsOf(event('OrderCreated'), event('PaymentApproved'), event('OrderCancelled'))
    expect(cancel(facts)).to.deep.equal({ OrderCancelled: { OrderId: orderId } })
  })
})
