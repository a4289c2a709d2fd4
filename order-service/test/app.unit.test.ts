import { randomUUID } from 'node:crypto'
import { SidecarError } from '@orderflow/service-kit'
import { post, send, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import { anOrder, approved, down, outsideOrder, TestedService } from './tested-service.ts'

describe('order-service with a failing sidecar or store', () => {
  let orders: TestedService
  beforeEach(() => {
    orders = new TestedService()
  })

  it('returns 202 when the event is in the log but the store is down, and saves the event when the log delivers it', async () => {
    orders.sidecar.failures.transact.push(down())
    const created = await orders.create()
    expect([created.status, created.body.status]).to.deep.equal([202, 'Created'])
    expect((await orders.get(created.body.id)).status).to.equal(404)
    expect(await orders.deliver()).to.deep.equal(['SUCCESS'])
    const { traceId, correlationId, ...order } = created.body
    expect((await orders.get(order.id)).body).to.include(order)
  })

  it('reads nothing from the store when the log delivers an event that the process has just saved', async () => {
    await orders.create()
    const { read, transact } = orders.sidecar.calls
    expect(await orders.deliver()).to.deep.equal(['SUCCESS'])
    expect([orders.sidecar.calls.read, orders.sidecar.calls.transact]).to.deep.equal([read, transact])
  })

  it('detects an event that contradicts an order that was just saved', async () => {
    const { body } = await orders.create()
    const event = JSON.parse(orders.published()[0] ?? '')
    await orders.take('orderevents', { ...event, Payload: { ...event.Payload, Total: 1_000 } })
    expect(orders.sidecar.published.at(-1)?.headers['deadletter-reason']).to.equal('conflicting-order')
    expect((await orders.get(body.id)).body.total).to.equal(anOrder.total)
  })

  it('returns 503 with the order’s id when it is unknown whether the event is in the log', async () => {
    orders.sidecar.failures.publish.push(down())
    const failed = await orders.create('key-1')
    expect(failed.status).to.equal(503)
    expect(failed.headers.get('retry-after')).to.equal('1')
    expect(failed.body.detail).to.contain('Send the request again until it succeeds')
    const retried = await orders.create('key-1')
    expect([retried.status, retried.body.id]).to.deep.equal([201, failed.body.orderId])
  })

  it('shows an order that may be missing from the log, and announces it later with the same content', async () => {
    orders.sidecar.failures.publish.push(down())
    const { status, body } = await orders.create()
    expect([status, orders.published()]).to.deep.equal([503, []])
    expect((await orders.get(body.orderId)).body).to.include({ status: 'Created', total: anOrder.total })
    await orders.sweep()
    expect(orders.published().map((text) => JSON.parse(text))).to.deep.equal([
      orders.documentOf(body.orderId)?.state.OrderCreated,
    ])
    await orders.sweep()
    expect(orders.published()).to.have.length(1)
  })

  it('announces an order that may be missing from the log before the order’s cancellation', async () => {
    orders.sidecar.failures.publish.push(down())
    const { body } = await orders.create()
    orders.restart()
    expect((await orders.cancel(body.orderId)).status).to.equal(200)
    expect(orders.names()).to.deep.equal(['OrderCreated', 'OrderCancelled'])
  })

  it('returns 503 and publishes nothing if the store is down during a cancellation', async () => {
    const { body } = await orders.create()
    orders.sidecar.failures.transact.push(down())
    expect((await orders.cancel(body.id)).status).to.equal(503)
    expect(orders.names()).to.deep.equal(['OrderCreated'])
    expect((await orders.get(body.id)).body.status).to.equal('Created')
  })

  it('returns 503 if it is unknown whether a cancellation is in the log, and announces it for the next request', async () => {
    const { body } = await orders.create()
    orders.sidecar.failures.publish.push(down())
    const failed = await orders.cancel(body.id)
    expect([failed.status, failed.body.orderId]).to.deep.equal([503, body.id])
    expect(failed.body.detail).to.contain('Send the request again')
    orders.restart()
    expect([(await orders.cancel(body.id)).body.status, orders.names()]).to.deep.equal([
      'Cancelled',
      ['OrderCreated', 'OrderCancelled'],
    ])
  })

  it('announces the order of a request without a key once, even if its failed write is executed later', async () => {
    const transact = orders.sidecar.transact.bind(orders.sidecar)
    let late = async () => {}
    orders.sidecar.transact = async (writes) => {
      orders.sidecar.transact = transact
      late = () => transact(writes)
      throw down()
    }
    const { status, body } = await orders.create()
    await late()
    await orders.sweep()
    const { OrderCreated } = orders.documentOf(body.id)?.state ?? {}
    expect([status, new Set(orders.published())]).to.deep.equal([202, new Set([JSON.stringify(OrderCreated)])])
    expect(await orders.deliver()).to.include('SUCCESS')
    expect((await orders.get(body.id)).body).to.include({ createdAt: body.createdAt, total: anOrder.total })
  })

  it('logs why it is unknown whether an event is in the log', async () => {
    orders.captured.records.splice(0)
    orders.sidecar.failures.publish.push(down())
    await orders.create('key-1')
    expect(JSON.stringify(orders.captured.records)).to.contain('connection refused')
  })

  it('publishes the same bytes when a request is retried in a new process', async () => {
    const publish = orders.sidecar.publish.bind(orders.sidecar)
    orders.sidecar.publish = async (topic, events) => {
      orders.sidecar.publish = publish
      await publish(topic, events)
      throw down()
    }
    expect((await orders.create('key-2')).status).to.equal(503)
    orders.restart()
    expect((await orders.create('key-2')).status).to.equal(201)
    const [first, ...others] = orders.published()
    expect(others).to.deep.equal([first])
  })

  it('publishes an order with a key only after it has stored the order', async () => {
    orders.sidecar.failures.transact.push(down())
    expect((await orders.create('key-3')).status).to.equal(503)
    expect(orders.sidecar.published).to.deep.equal([])
  })

  it('requests another delivery while the store is down', async () => {
    await orders.create()
    orders.restart()
    orders.sidecar.failures.read.push(down())
    expect(await orders.deliver()).to.deep.equal(['RETRY'])
  })

  it('hides internal details from a problem response', async () => {
    orders.sidecar.failures.read.push(new SidecarError('read state', new Error('secret-host:3502 refused')))
    const failed = await withServer(orders.app.web, (url) => send(`${url}/v1/orders/${randomUUID()}`))
    expect(failed.status).to.equal(503)
    expect(JSON.stringify(failed.body)).not.to.contain('secret-host')
  })

  it('explains an error to a customer whose name has words of the explanation', async () => {
    const refused = await withServer(orders.app.web, async (url) => {
      const placeFor = (customerName: string) =>
        post<{ detail: string }>(`${url}/v1/orders`, { ...anOrder, customerName }, { 'idempotency-key': 'new-key' })
      await placeFor('Ada')
      return placeFor('New Key')
    })
    expect(refused.body.detail).to.equal('This key was already used with another body. Send a new key, or none.')
    const orderId = randomUUID()
    const payload = { OrderId: orderId, CustomerName: 'Payload Order' }
    await orders.take('orderevents', outsideOrder(payload), outsideOrder({ ...payload, Total: 2 }))
    const detail = orders.sidecar.published.at(-1)?.headers['deadletter-detail']
    expect(detail).to.equal('this OrderId already has an order with another payload')
  })

  it('shares its sidecar calls among concurrent requests', async () => {
    const placed = await orders.createAtOnce(Array.from({ length: 50 }, (_, index) => index + 1))
    expect(placed.map(({ status }) => status)).to.deep.equal(Array(50).fill(201))
    expect(orders.sidecar.published).to.have.length(50)
    expect(Math.max(orders.sidecar.calls.publish, orders.sidecar.calls.transact)).to.be.at.most(2)
  })

  it('stores a whole delivery of payments in one transaction, and confirms by a second read that its documents are new', async () => {
    const payments = () => Array.from({ length: 20 }, () => approved(randomUUID(), 1, '2026-01-01T00:00:00Z'))
    await orders.take('paymentevents', ...payments())
    // The first batch of a process also reads the lanes of announcements and deadlines, and the list.
    const calls = { publish: 0, readOne: 0, save: 0, remove: 0 }
    expect(orders.sidecar.calls).to.deep.equal({ ...calls, read: 1 + 1 + 1 + 1 + 2, transact: 1 })
    await orders.take('paymentevents', ...payments())
    expect(orders.sidecar.calls).to.deep.equal({ ...calls, read: 6 + 1 + 1, transact: 2 })
  })
})
