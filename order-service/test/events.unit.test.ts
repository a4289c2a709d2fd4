import { randomUUID } from 'node:crypto'
import { createEnvelope } from '@orderflow/envelope-schema'
import { expect } from 'chai'
import { anOrder, approved, deliverTo, outsideOrder, TestedService } from './tested-service.ts'

describe('order-service, about events of other publishers', () => {
  let orders: TestedService
  beforeEach(() => {
    orders = new TestedService()
  })

  it('keeps the earlier of two events with the same name, whichever arrives last', async () => {
    const { body } = await orders.create()
    await orders.take('paymentevents', approved(body.id, 2, '2026-02-01T00:00:00Z'))
    await orders.take('paymentevents', approved(body.id, 1, '2026-01-01T00:00:00Z'))
    await orders.take('paymentevents', approved(body.id, 3, '2026-03-01T00:00:00Z'))
    const order = (await orders.get(body.id)).body
    expect([order.status, order.payment?.amount]).to.deep.equal(['Paid', 1])
    const items = await orders.list()
    expect(items.map(({ id }) => id)).to.deep.equal([body.id])
  })

  it('keeps an order in the list when another OrderCreated of the same order arrives with an earlier date', async () => {
    const { body } = await orders.create()
    const { customerName: CustomerName, customerTaxId: CustomerTaxId, total: Total } = body
    const earlier = outsideOrder({ OrderId: body.id, CustomerName, CustomerTaxId, Total })
    await orders.take('orderevents', { ...earlier, CreationDate: '2020-01-01T00:00:00Z' })
    const items = await orders.list()
    expect(items.map(({ createdAt }) => createdAt)).to.deep.equal(['2020-01-01T00:00:00Z'])
  })

  it('keeps an order’s position in the list when later events of the order arrive', async () => {
    const [one, other] = [await orders.create(), await orders.create()]
    const slot = orders.documentOf(one.body.id)?.listed
    await orders.take('paymentevents', approved(one.body.id, anOrder.total, '2026-01-01T00:00:00Z'))
    await orders.cancel(one.body.id)
    expect(orders.documentOf(one.body.id)?.listed).to.equal(slot).and.to.be.a('string')
    const items = await orders.list()
    expect(items.map(({ id, status }) => [id, status])).to.deep.equal([
      [other.body.id, 'Created'],
      [one.body.id, 'Cancelled'],
    ])
  })

  it('lists an order whose payment arrived first as soon as the order arrives', async () => {
    const event = outsideOrder()
    const { OrderId } = event.Payload
    const ids = async () => (await orders.list()).map(({ id }) => id)
    await orders.take('paymentevents', approved(OrderId, 1, '2026-01-01T00:00:00Z'))
    expect([(await orders.get(OrderId)).status, await ids()]).to.deep.equal([404, []])
    expect(Object.keys(orders.documentOf(OrderId)?.state ?? {})).to.deep.equal(['PaymentApproved'])
    expect(orders.documentOf(OrderId)).not.to.have.property('listed')
    await orders.take('orderevents', event)
    expect([(await orders.get(OrderId)).body.status, await ids()]).to.deep.equal(['Paid', [OrderId]])
  })

  describe('amounts of orders', () => {
    const wrong: [amount: number, detail: RegExp][] = [
      [42.555, /has more decimals than EUR: round it to 2 decimals/],
      [1e-300, /has more decimals than EUR/],
      [0.1 + 0.2, /has more decimals than EUR/],
      [0, /must be greater than 0/],
      [-0, /must be greater than 0/],
      [-1, /must be greater than 0/],
      [1e12 + 1, /must be at most 1000000000000/],
    ]
    for (const [amount, detail] of wrong) {
      it(`refuses ${amount} in the API, and names the field and the reason`, async () => {
        const { status, body } = await orders.create(undefined, amount)
        const { errors } = body as unknown as { errors?: { pointer: string; detail: string }[] }
        expect([status, errors?.length, errors?.[0]?.pointer]).to.deep.equal([400, 1, '/total'])
        expect(errors?.[0]?.detail).to.match(detail)
        expect(orders.published()).to.deep.equal([])
      })
    }

    it('shows the currency with every order', async () => {
      const { body } = await orders.create('key-11', 0.01)
      expect(body).to.include({ total: 0.01, currency: 'EUR' })
      expect((await orders.get(body.id)).body).to.include({ total: 0.01, currency: 'EUR' })
      const items = await orders.list()
      expect(items[0]).to.include({ id: body.id, currency: 'EUR' })
      expect((await orders.cancel(body.id)).body).to.include({ id: body.id, currency: 'EUR' })
    })

    for (const amount of [42.555, 1e-300, 0.1 + 0.2]) {
      it(`sends an event with the amount ${amount} to the dead-letter topic, and creates no order`, async () => {
        const event = outsideOrder({ Total: amount })
        await orders.take('orderevents', event)
        const [deadLetter] = orders.sidecar.published
        expect(deadLetter?.headers['deadletter-reason']).to.equal('invalid-amount')
        expect(deadLetter?.headers['deadletter-detail']).to.match(/^Total has more decimals than EUR: round it/)
        expect((await orders.get(event.Payload.OrderId)).status).to.equal(404)
      })
    }

    it('rejects a PaymentApproved with an invalid amount', async () => {
      await orders.take('paymentevents', approved(randomUUID(), 42.555, '2026-01-01T00:00:00Z'))
      expect(orders.sidecar.published[0]?.headers['deadletter-detail']).to.match(/^Amount has more decimals/)
    })

    it('reads -0 in an event as 0', async () => {
      const event = outsideOrder({ Total: 1 })
      const { OrderId } = event.Payload
      const text = JSON.stringify(event).replace('"Total":1', '"Total":-0')
      await deliverTo(orders.app, 'orderevents', [text])
      expect(Object.is((await orders.get(OrderId)).body.total, 0)).to.equal(true)
      await orders.take('orderevents', { ...event, Payload: { ...event.Payload, Total: 0 } })
      expect(orders.sidecar.published).to.deep.equal([])
    })
  })

  it('keeps only the contract’s fields of an event, whatever its publisher adds', async () => {
    const payload = {
      OrderId: randomUUID(),
      CustomerName: 'Ada',
      CustomerTaxId: 'T',
      Total: 1,
      Extra: 'x'.repeat(60_000),
    }
    const outside = { id: randomUUID(), name: 'older-application' }
    const event = createEnvelope({ app: outside, type: 'OrderCreated', creationDate: new Date(), payload })
    await orders.take('orderevents', { ...event, Headers: { more: 'y'.repeat(1_000) } })
    const sizes = [...orders.sidecar.documents.values()].map(({ value }) => JSON.stringify(value).length)
    expect(Math.max(...sizes)).to.be.below(1_000)
    expect((await orders.get(event.Payload.OrderId)).body.total).to.equal(1)
  })
})
