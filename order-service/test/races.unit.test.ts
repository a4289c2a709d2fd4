import { randomUUID } from 'node:crypto'
import { deterministicId } from '@orderflow/envelope-schema'
import { FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import {
  anOrder,
  cancelled,
  down,
  type OrderDocument,
  outsideOrder,
  ownOrder,
  settings,
  TestedService,
  take,
} from './tested-service.ts'

describe('order-service with concurrent replicas and publishers', () => {
  let orders: TestedService
  beforeEach(() => {
    orders = new TestedService()
  })

  it('publishes nothing if another replica stores the order first, and announces it', async () => {
    orders.useDocumentsOneByOne()
    const orderId = deterministicId('order', settings.App.Id, 'key-9')
    const { customerName: CustomerName, customerTaxId: CustomerTaxId, total: Total } = anOrder
    const event = outsideOrder({ OrderId: orderId, CustomerName, CustomerTaxId, Total })
    orders.raceWith(`order/${orderId}`, { state: { OrderCreated: event }, listed: 'elsewhere:0' })
    const { status, body } = await orders.create('key-9')
    expect([status, body.createdAt]).to.deep.equal([201, event.CreationDate])
    expect(orders.published()).to.deep.equal([])
  })

  it('publishes the other replica’s order if that replica stored it first, and has perhaps not announced it', async () => {
    orders.useDocumentsOneByOne()
    const orderId = deterministicId('order', settings.App.Id, 'key-10')
    const { customerName: CustomerName, customerTaxId: CustomerTaxId, total: Total } = anOrder
    const event = ownOrder({ OrderId: orderId, CustomerName, CustomerTaxId, Total })
    orders.sidecar.set('announcing/3', { epoch: 1, by: 'other', beat: 1, keys: [`order/${orderId}`] })
    const unannounced = [{ event: 'OrderCreated', mark: '3:1:other' }]
    const document = { state: { OrderCreated: event }, listed: 'elsewhere:0', unannounced }
    orders.raceWith(`order/${orderId}`, document)
    expect((await orders.create('key-10')).status).to.equal(201)
    expect(orders.published()).to.deep.equal([JSON.stringify(event)])
    expect(orders.documentOf(orderId)).to.deep.equal(document)
  })

  it('refuses a second order with the same key, even if the first order was perhaps never published', async () => {
    orders.sidecar.failures.publish.push(down())
    expect((await orders.create('key-5', 1)).status).to.equal(503)
    expect((await orders.create('key-5', 2)).status).to.equal(422)
    expect(orders.published().map((text) => JSON.parse(text).Payload.Total)).to.deep.equal([1])
  })

  function expectOneWinner(answers: Awaited<ReturnType<typeof orders.create>>[]): void {
    const [placed, refused] = answers.toSorted((one, other) => one.status - other.status)
    expect([placed?.status, refused?.status]).to.deep.equal([201, 422])
    // The replica that refused an order cannot see whether the other one was announced. So it may announce the same event again.
    expect([...new Set(orders.published())].map((text) => JSON.parse(text).Payload.Total)).to.deep.equal([
      placed?.body.total,
    ])
  }

  it('places only one of two different orders with the same key in one batch', async () => {
    expectOneWinner(await orders.createAtOnce([1, 2], 'key-6'))
    // The reads are the order, the lanes of announcements and deadlines, and the list.
    const calls = { publish: 1, read: 1 + 1 + 1 + 2, readOne: 0, transact: 1, save: 0, remove: 0 }
    expect(orders.sidecar.calls).to.deep.equal(calls)
    expect(orders.sidecar.published).to.have.length(1)
  })

  it('places only one of two different orders with the same key in two replicas at once', async () => {
    expectOneWinner(await orders.placeInTwoReplicas('key-7', 1, 2))
  })

  it('refuses an order if another replica stores another order of its key first, even after the app lost an earlier race', async () => {
    const orderId = deterministicId('order', settings.App.Id, 'key-8')
    await orders.loseRace()
    orders.raceWith(`order/${orderId}`, { state: { OrderCreated: outsideOrder({ OrderId: orderId, Total: 1 }) } })
    expect((await orders.create('key-8', 2)).status).to.equal(422)
    expect(orders.published()).to.deep.equal([])
  })

  it('keeps one of two contradicting orders that two replicas receive at once', async () => {
    const replica = orders.app
    orders.restart()
    const orderId = randomUUID()
    // Gives each replica its own chunk of the list.
    await Promise.all([take(replica, 'orderevents', outsideOrder()), orders.take('orderevents', outsideOrder())])
    orders.sidecar.readTogether(2)
    const contradicting = (Total: number) => outsideOrder({ OrderId: orderId, Total })
    await Promise.all([take(replica, 'orderevents', contradicting(1)), orders.take('orderevents', contradicting(2))])
    const [deadLetter, ...others] = orders.sidecar.published
    expect([deadLetter?.headers['deadletter-reason'], others.length]).to.deep.equal(['conflicting-order', 0])
    const { body } = await orders.get(orderId)
    expect(JSON.parse(orders.published()[0] ?? '').Payload.Total).to.equal(3 - body.total)
  })

  it('keeps an order that another replica stores just before a contradicting order', async () => {
    orders.useDocumentsOneByOne()
    const orderId = randomUUID()
    const state = { OrderCreated: outsideOrder({ OrderId: orderId, Total: 1 }) }
    orders.raceWith(`order/${orderId}`, { state, listed: 'elsewhere:0' })
    await orders.take('orderevents', outsideOrder({ OrderId: orderId, Total: 2 }))
    expect((await orders.get(orderId)).body.total).to.equal(1)
    expect(orders.reasons()).to.deep.equal(['conflicting-order'])
  })

  it('keeps one of two contradicting orders with the service’s own AppId, even after the app lost an earlier race', async () => {
    const replica = orders.app
    orders.restart()
    await Promise.all([take(replica, 'orderevents', outsideOrder()), orders.take('orderevents', outsideOrder())])
    await orders.loseRace()
    orders.sidecar.readTogether(2)
    const orderId = randomUUID()
    const claimed = (Total: number) => ownOrder({ OrderId: orderId, Total })
    await Promise.all([take(replica, 'orderevents', claimed(1)), orders.take('orderevents', claimed(2))])
    expect(orders.reasons()).to.deep.equal(['conflicting-order'])
    expect((await orders.get(orderId)).body.total).to.equal(3 - JSON.parse(orders.published()[0] ?? '').Payload.Total)
  })

  for (const type of ['state.sqlite', 'state.postgresql']) {
    it(`returns 422 if an outside publisher guesses the key and takes the OrderId during the request, on ${type}`, async () => {
      orders.restart(new FakeSidecar(type))
      const orderId = deterministicId('order', settings.App.Id, 'guessed')
      const event = { ...outsideOrder({ OrderId: orderId, Total: 7 }), CreationDate: '2020-01-01T00:00:00.000Z' }
      orders.raceWith(`order/${orderId}`, { state: { OrderCreated: event }, listed: 'elsewhere:0' })
      const { status, body } = await orders.create('guessed')
      expect([status, body.orderId]).to.deep.equal([422, orderId])
      expect(body.detail).to.contain('already used with another body')
      expect(orders.published()).to.deep.equal([])
      expect(orders.documentOf(orderId)?.state).to.deep.equal({ OrderCreated: event })
    })
  }

  it('keeps its order if an outside publisher guesses the key and takes the OrderId before the announcement', async () => {
    const orderId = deterministicId('order', settings.App.Id, 'guessed')
    const publish = orders.sidecar.publish.bind(orders.sidecar)
    orders.sidecar.publish = async (topic, events) => {
      orders.sidecar.publish = publish
      const event = outsideOrder({ OrderId: orderId, Total: 7 })
      await orders.take('orderevents', { ...event, CreationDate: '2020-01-01T00:00:00.000Z' })
      await publish(topic, events)
    }
    const { status, body } = await orders.create('guessed')
    expect([status, body.total, (await orders.get(orderId)).body.total]).to.deep.equal([
      201,
      anOrder.total,
      anOrder.total,
    ])
    const reasons = orders.reasons()
    expect(reasons).to.deep.equal(['conflicting-order', undefined])
  })

  it('keeps the earlier of two cancellations if another replica stores the earlier one at the same time', async () => {
    const { body } = await orders.create()
    await orders.loseRace()
    const { state, ...document } = orders.documentOf(body.id) as OrderDocument
    const earlier = { ...document, state: { ...state, OrderCancelled: cancelled(body.id, '2026-01-01T00:00:00Z') } }
    orders.raceWith(`order/${body.id}`, earlier)
    await orders.take('orderevents', cancelled(body.id, '2026-02-01T00:00:00Z'))
    expect(orders.documentOf(body.id)).to.deep.equal(earlier)
  })

  it('creates one order for two equal requests with the same key in two replicas at once', async () => {
    const [one, other] = await orders.placeInTwoReplicas('key-4', anOrder.total, anOrder.total)
    expect([one.status, other.status, other.body.id]).to.deep.equal([201, 201, one.body.id])
    expect(new Set(orders.published()).size).to.equal(1)
  })
})
