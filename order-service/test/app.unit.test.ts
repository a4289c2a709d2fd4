import { randomUUID } from 'node:crypto'
import { createEnvelope, deterministicId } from '@orderflow/envelope-schema'
import { type App, createApp, readSettings, SidecarError } from '@orderflow/service-kit'
import { capturedLog, FakeSidecar, post, publisherOf, send, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import type { Order, OrderFacts } from '../src/order.ts'
import { service } from '../src/service.ts'

const settings = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
const anOrder = { customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 }
/** The stored document of an order. */
interface OrderDocument {
  state: OrderFacts
  listed?: string
  unannounced?: { event: unknown; mark: string }[]
}

const down = () => new SidecarError('call', new Error('connection refused'))

describe('order-service with a failing sidecar or store', () => {
  let sidecar: FakeSidecar
  let app: App
  const captured = capturedLog()
  beforeEach(() => {
    sidecar = new FakeSidecar()
    restart()
  })
  /** Starts a new process with the same store and log. */
  function restart(): void {
    app = createApp(service, { settings, log: captured.log, sidecar, now: () => new Date(), newId: randomUUID })
  }

  /** Uses a store without a fence. The app then checks each document for changes instead. */
  function useDocumentsOneByOne(): void {
    sidecar = new FakeSidecar('state.postgresql')
    restart()
  }

  const place = (url: string, key?: string, total = anOrder.total) =>
    post<Order & { detail: string; orderId: string }>(
      `${url}/v1/orders`,
      { ...anOrder, total },
      key ? { 'idempotency-key': key } : {},
    )
  const create = (key?: string, total?: number, target = app) => withServer(target.web, (url) => place(url, key, total))
  /** Places orders with these totals at once. The server collects all requests before it passes them to the app. */
  const createAtOnce = (totals: number[], key?: string) => {
    const arrived: (() => void)[] = []
    return withServer(
      (request, response) => {
        arrived.push(() => app.web(request, response))
        if (arrived.length === totals.length) for (const begin of arrived) begin()
      },
      (url) => Promise.all(totals.map((total) => place(url, key, total))),
    )
  }
  /** Places two orders with the same key in two replicas. Both replicas find no order. */
  async function placeInTwoReplicas(key: string, total: number, otherTotal: number) {
    const replica = app
    restart()
    sidecar.readTogether(2)
    const transact = sidecar.transact.bind(sidecar)
    let count = 0
    sidecar.transact = async (writes) => {
      count += 1
      // The slower replica writes its order after the faster one has published.
      while (count === 2 && sidecar.published.length === 0) await new Promise((resolve) => setImmediate(resolve))
      await transact(writes)
    }
    return Promise.all([create(key, total, replica), create(key, otherTotal)])
  }
  /** Makes another replica write a document just before the next transaction. */
  const raceWith = (key: string, value: unknown) => {
    sidecar.beforeWrite = () => {
      sidecar.beforeWrite = () => {}
      sidecar.writeElsewhere(key, value)
    }
  }
  /** Makes the app lose a race with another replica. From then on, the app checks each document instead of the fence (docs/adr/0017). */
  const loseRace = async () => {
    raceWith('another', 1)
    await take(app, 'orderevents', outsideOrder())
  }
  const cancel = (id: string) =>
    withServer(app.web, (url) => post<Order & { detail: string; orderId: string }>(`${url}/v1/orders/${id}/cancel`, {}))
  const documentOf = (id: string) => sidecar.documents.get(`order/${id}`)?.value as OrderDocument | undefined
  const get = (id: string) => withServer(app.web, (url) => send<Order>(`${url}/v1/orders/${id}`))

  const outsideOrder = (changes: object = {}) =>
    createEnvelope({
      app: { id: randomUUID(), name: 'older-application' },
      type: 'OrderCreated',
      creationDate: new Date(),
      payload: { OrderId: randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1, ...changes },
    })

  /** Returns an order with the service's AppId. Other publishers can use this AppId, too. */
  const ownOrder = (changes: object) => ({
    ...outsideOrder(changes),
    AppId: settings.App.Id,
    AppName: settings.App.Name,
  })

  const approved = (OrderId: string, Amount: number, date: string) =>
    createEnvelope({
      app: publisherOf('PaymentApproved'),
      type: 'PaymentApproved',
      creationDate: new Date(date),
      payload: { OrderId, PaymentId: randomUUID(), Amount, Policy: 'p', Source: 'OrderCreated' },
    })

  const take = (target: typeof app, topic: string, ...events: object[]) =>
    withServer(target.channel, (url) => {
      const entries = events.map((event, offset) => ({
        entryId: String(offset),
        event: Buffer.from(JSON.stringify(event)).toString('base64'),
        metadata: { __partition: '0', __offset: String(offset) },
      }))
      return post(`${url}/subscriptions/${topic}`, { entries }, { 'dapr-api-token': 'app' })
    })

  const deliver = () =>
    withServer(app.channel, (url) => {
      const entries = sidecar.published.map(({ value, key }, offset) => ({
        entryId: String(offset),
        event: Buffer.from(value).toString('base64'),
        metadata: { __key: key, __partition: '0', __offset: String(offset) },
      }))
      return post<{ statuses: { status: string }[] }>(
        `${url}/subscriptions/orderevents`,
        { entries },
        { 'dapr-api-token': 'app' },
      )
    })

  /** Announces the events that are stored, but perhaps not announced. A service does so every second, and when it stops. */
  const sweep = () => app.backgrounds[0]?.stop()

  const published = () => sidecar.published.map(({ value }) => Buffer.from(value).toString())
  const names = () => published().map((text) => JSON.parse(text).Name)

  it('returns 202 when the event is in the log but the store is down, and saves the event when the log delivers it', async () => {
    sidecar.failures.transact.push(down())
    const created = await create()
    expect([created.status, created.body.status]).to.deep.equal([202, 'Created'])
    expect((await get(created.body.id)).status).to.equal(404)
    expect((await deliver()).body.statuses).to.deep.equal([{ entryId: '0', status: 'SUCCESS' }])
    const { traceId, correlationId, ...order } = created.body
    expect((await get(order.id)).body).to.include(order)
  })

  it('reads nothing from the store when the log delivers an event that the process has just saved', async () => {
    await create()
    const { read, transact } = sidecar.calls
    expect((await deliver()).body.statuses.map(({ status }) => status)).to.deep.equal(['SUCCESS'])
    expect([sidecar.calls.read, sidecar.calls.transact]).to.deep.equal([read, transact])
  })

  it('detects an event that contradicts an order that was just saved', async () => {
    const { body } = await create()
    const event = JSON.parse(published()[0] ?? '')
    await take(app, 'orderevents', { ...event, Payload: { ...event.Payload, Total: 1_000 } })
    expect(sidecar.published.at(-1)?.headers['deadletter-reason']).to.equal('conflicting-order')
    expect((await get(body.id)).body.total).to.equal(anOrder.total)
  })

  it('returns 503 with the order’s id when it is unknown whether the event is in the log', async () => {
    sidecar.failures.publish.push(down())
    const failed = await create('key-1')
    expect(failed.status).to.equal(503)
    expect(failed.headers.get('retry-after')).to.equal('1')
    expect(failed.body.detail).to.contain('Send the request again until it succeeds')
    const retried = await create('key-1')
    expect([retried.status, retried.body.id]).to.deep.equal([201, failed.body.orderId])
  })

  it('shows an order that may be missing from the log, and announces it later with the same content', async () => {
    sidecar.failures.publish.push(down())
    const { status, body } = await create()
    expect([status, published()]).to.deep.equal([503, []])
    expect((await get(body.orderId)).body).to.include({ status: 'Created', total: anOrder.total })
    await sweep()
    expect(published().map((text) => JSON.parse(text))).to.deep.equal([documentOf(body.orderId)?.state.OrderCreated])
    await sweep()
    expect(published()).to.have.length(1)
  })

  it('announces an order that may be missing from the log before the order’s cancellation', async () => {
    sidecar.failures.publish.push(down())
    const { body } = await create()
    restart()
    expect((await cancel(body.orderId)).status).to.equal(200)
    expect(names()).to.deep.equal(['OrderCreated', 'OrderCancelled'])
  })

  it('returns 503 and publishes nothing if the store is down during a cancellation', async () => {
    const { body } = await create()
    sidecar.failures.transact.push(down())
    expect((await cancel(body.id)).status).to.equal(503)
    expect(names()).to.deep.equal(['OrderCreated'])
    expect((await get(body.id)).body.status).to.equal('Created')
  })

  it('returns 503 if it is unknown whether a cancellation is in the log, and announces it for the next request', async () => {
    const { body } = await create()
    sidecar.failures.publish.push(down())
    const failed = await cancel(body.id)
    expect([failed.status, failed.body.orderId]).to.deep.equal([503, body.id])
    expect(failed.body.detail).to.contain('Send the request again')
    restart()
    expect([(await cancel(body.id)).body.status, names()]).to.deep.equal([
      'Cancelled',
      ['OrderCreated', 'OrderCancelled'],
    ])
  })

  it('announces the order of a request without a key once, even if its failed write is executed later', async () => {
    const transact = sidecar.transact.bind(sidecar)
    let late = async () => {}
    sidecar.transact = async (writes) => {
      sidecar.transact = transact
      late = () => transact(writes)
      throw down()
    }
    const { status, body } = await create()
    await late()
    await sweep()
    const { OrderCreated } = documentOf(body.id)?.state ?? {}
    expect([status, new Set(published())]).to.deep.equal([202, new Set([JSON.stringify(OrderCreated)])])
    expect((await deliver()).body.statuses.map((each) => each.status)).to.include('SUCCESS')
    expect((await get(body.id)).body).to.include({ createdAt: body.createdAt, total: anOrder.total })
  })

  it('logs why it is unknown whether an event is in the log', async () => {
    captured.records.splice(0)
    sidecar.failures.publish.push(down())
    await create('key-1')
    expect(JSON.stringify(captured.records)).to.contain('connection refused')
  })

  it('publishes the same bytes when a request is retried in a new process', async () => {
    const publish = sidecar.publish.bind(sidecar)
    sidecar.publish = async (topic, events) => {
      sidecar.publish = publish
      await publish(topic, events)
      throw down()
    }
    expect((await create('key-2')).status).to.equal(503)
    restart()
    expect((await create('key-2')).status).to.equal(201)
    const [first, ...others] = published()
    expect(others).to.deep.equal([first])
  })

  it('publishes an order with a key only after it has stored the order', async () => {
    sidecar.failures.transact.push(down())
    expect((await create('key-3')).status).to.equal(503)
    expect(sidecar.published).to.deep.equal([])
  })

  it('publishes nothing if another replica stores the order first, and announces it', async () => {
    useDocumentsOneByOne()
    const orderId = deterministicId('order', settings.App.Id, 'key-9')
    const { customerName: CustomerName, customerTaxId: CustomerTaxId, total: Total } = anOrder
    const event = outsideOrder({ OrderId: orderId, CustomerName, CustomerTaxId, Total })
    raceWith(`order/${orderId}`, { state: { OrderCreated: event }, listed: 'elsewhere:0' })
    const { status, body } = await create('key-9')
    expect([status, body.createdAt]).to.deep.equal([201, event.CreationDate])
    expect(published()).to.deep.equal([])
  })

  it('publishes the other replica’s order if that replica stored it first, and has perhaps not announced it', async () => {
    useDocumentsOneByOne()
    const orderId = deterministicId('order', settings.App.Id, 'key-10')
    const { customerName: CustomerName, customerTaxId: CustomerTaxId, total: Total } = anOrder
    const event = ownOrder({ OrderId: orderId, CustomerName, CustomerTaxId, Total })
    sidecar.set('announcing/3', { epoch: 1, by: 'other', beat: 1, keys: [`order/${orderId}`] })
    const unannounced = [{ event: 'OrderCreated', mark: '3:1:other' }]
    const document = { state: { OrderCreated: event }, listed: 'elsewhere:0', unannounced }
    raceWith(`order/${orderId}`, document)
    expect((await create('key-10')).status).to.equal(201)
    expect(published()).to.deep.equal([JSON.stringify(event)])
    expect(documentOf(orderId)).to.deep.equal(document)
  })

  it('refuses a second order with the same key, even if the first order was perhaps never published', async () => {
    sidecar.failures.publish.push(down())
    expect((await create('key-5', 1)).status).to.equal(503)
    expect((await create('key-5', 2)).status).to.equal(422)
    expect(published().map((text) => JSON.parse(text).Payload.Total)).to.deep.equal([1])
  })

  function expectOneWinner(answers: Awaited<ReturnType<typeof create>>[]): void {
    const [placed, refused] = answers.toSorted((one, other) => one.status - other.status)
    expect([placed?.status, refused?.status]).to.deep.equal([201, 422])
    // The replica that refused an order cannot see whether the other one was announced. So it may announce the same event again.
    expect([...new Set(published())].map((text) => JSON.parse(text).Payload.Total)).to.deep.equal([placed?.body.total])
  }

  it('places only one of two different orders with the same key in one batch', async () => {
    expectOneWinner(await createAtOnce([1, 2], 'key-6'))
    // The reads are the order, the lanes of announcements, and the list.
    expect(sidecar.calls).to.deep.equal({ publish: 1, read: 1 + 1 + 2, readOne: 0, transact: 1, save: 0 })
    expect(sidecar.published).to.have.length(1)
  })

  it('places only one of two different orders with the same key in two replicas at once', async () => {
    expectOneWinner(await placeInTwoReplicas('key-7', 1, 2))
  })

  it('refuses an order if another replica stores another order of its key first, even after the app lost an earlier race', async () => {
    const orderId = deterministicId('order', settings.App.Id, 'key-8')
    await loseRace()
    raceWith(`order/${orderId}`, { state: { OrderCreated: outsideOrder({ OrderId: orderId, Total: 1 }) } })
    expect((await create('key-8', 2)).status).to.equal(422)
    expect(published()).to.deep.equal([])
  })

  it('requests another delivery while the store is down', async () => {
    await create()
    restart()
    sidecar.failures.read.push(down())
    expect((await deliver()).body.statuses).to.deep.equal([{ entryId: '0', status: 'RETRY' }])
  })

  it('hides internal details from a problem response', async () => {
    sidecar.failures.read.push(new SidecarError('read state', new Error('secret-host:3502 refused')))
    const failed = await withServer(app.web, (url) => send(`${url}/v1/orders/${randomUUID()}`))
    expect(failed.status).to.equal(503)
    expect(JSON.stringify(failed.body)).not.to.contain('secret-host')
  })

  it('explains an error to a customer whose name has words of the explanation', async () => {
    const refused = await withServer(app.web, async (url) => {
      const placeFor = (customerName: string) =>
        post<{ detail: string }>(`${url}/v1/orders`, { ...anOrder, customerName }, { 'idempotency-key': 'new-key' })
      await placeFor('Ada')
      return placeFor('New Key')
    })
    expect(refused.body.detail).to.equal('This key was already used with another body. Send a new key, or none.')
    const orderId = randomUUID()
    const payload = { OrderId: orderId, CustomerName: 'Payload Order' }
    await take(app, 'orderevents', outsideOrder(payload), outsideOrder({ ...payload, Total: 2 }))
    const detail = sidecar.published.at(-1)?.headers['deadletter-detail']
    expect(detail).to.equal('this OrderId already has an order with another payload')
  })

  it('keeps one of two contradicting orders that two replicas receive at once', async () => {
    const replica = app
    restart()
    const orderId = randomUUID()
    // Gives each replica its own chunk of the list.
    await Promise.all([take(replica, 'orderevents', outsideOrder()), take(app, 'orderevents', outsideOrder())])
    sidecar.readTogether(2)
    const contradicting = (Total: number) => outsideOrder({ OrderId: orderId, Total })
    await Promise.all([take(replica, 'orderevents', contradicting(1)), take(app, 'orderevents', contradicting(2))])
    const [deadLetter, ...others] = sidecar.published
    expect([deadLetter?.headers['deadletter-reason'], others.length]).to.deep.equal(['conflicting-order', 0])
    const { body } = await get(orderId)
    expect(JSON.parse(published()[0] ?? '').Payload.Total).to.equal(3 - body.total)
  })

  it('keeps an order that another replica stores just before a contradicting order', async () => {
    useDocumentsOneByOne()
    const orderId = randomUUID()
    const state = { OrderCreated: outsideOrder({ OrderId: orderId, Total: 1 }) }
    raceWith(`order/${orderId}`, { state, listed: 'elsewhere:0' })
    await take(app, 'orderevents', outsideOrder({ OrderId: orderId, Total: 2 }))
    expect((await get(orderId)).body.total).to.equal(1)
    expect(sidecar.published.map(({ headers }) => headers['deadletter-reason'])).to.deep.equal(['conflicting-order'])
  })

  it('keeps one of two contradicting orders with the service’s own AppId, even after the app lost an earlier race', async () => {
    const replica = app
    restart()
    await Promise.all([take(replica, 'orderevents', outsideOrder()), take(app, 'orderevents', outsideOrder())])
    await loseRace()
    sidecar.readTogether(2)
    const orderId = randomUUID()
    const claimed = (Total: number) => ownOrder({ OrderId: orderId, Total })
    await Promise.all([take(replica, 'orderevents', claimed(1)), take(app, 'orderevents', claimed(2))])
    expect(sidecar.published.map(({ headers }) => headers['deadletter-reason'])).to.deep.equal(['conflicting-order'])
    expect((await get(orderId)).body.total).to.equal(3 - JSON.parse(published()[0] ?? '').Payload.Total)
  })

  for (const type of ['state.sqlite', 'state.postgresql']) {
    it(`returns 422 if an outside publisher guesses the key and takes the OrderId during the request, on ${type}`, async () => {
      sidecar = new FakeSidecar(type)
      restart()
      const orderId = deterministicId('order', settings.App.Id, 'guessed')
      const event = { ...outsideOrder({ OrderId: orderId, Total: 7 }), CreationDate: '2020-01-01T00:00:00.000Z' }
      raceWith(`order/${orderId}`, { state: { OrderCreated: event }, listed: 'elsewhere:0' })
      const { status, body } = await create('guessed')
      expect([status, body.orderId]).to.deep.equal([422, orderId])
      expect(body.detail).to.contain('already used with another body')
      expect(published()).to.deep.equal([])
      expect(documentOf(orderId)?.state).to.deep.equal({ OrderCreated: event })
    })
  }

  it('keeps its order if an outside publisher guesses the key and takes the OrderId before the announcement', async () => {
    const orderId = deterministicId('order', settings.App.Id, 'guessed')
    const publish = sidecar.publish.bind(sidecar)
    sidecar.publish = async (topic, events) => {
      sidecar.publish = publish
      const event = outsideOrder({ OrderId: orderId, Total: 7 })
      await take(app, 'orderevents', { ...event, CreationDate: '2020-01-01T00:00:00.000Z' })
      await publish(topic, events)
    }
    const { status, body } = await create('guessed')
    expect([status, body.total, (await get(orderId)).body.total]).to.deep.equal([201, anOrder.total, anOrder.total])
    const reasons = sidecar.published.map(({ headers }) => headers['deadletter-reason'])
    expect(reasons).to.deep.equal(['conflicting-order', undefined])
  })

  it('keeps the earlier of two events with the same name, whichever arrives last', async () => {
    const { body } = await create()
    await take(app, 'paymentevents', approved(body.id, 2, '2026-02-01T00:00:00Z'))
    await take(app, 'paymentevents', approved(body.id, 1, '2026-01-01T00:00:00Z'))
    await take(app, 'paymentevents', approved(body.id, 3, '2026-03-01T00:00:00Z'))
    const order = (await get(body.id)).body
    expect([order.status, order.payment?.amount]).to.deep.equal(['Paid', 1])
    const list = await withServer(app.web, (url) => send<{ items: Order[] }>(`${url}/v1/orders`))
    expect(list.body.items.map(({ id }) => id)).to.deep.equal([body.id])
  })

  it('keeps the earlier of two cancellations if another replica stores the earlier one at the same time', async () => {
    const { body } = await create()
    const cancelled = (date: string) =>
      createEnvelope({
        app: { id: randomUUID(), name: 'older-application' },
        type: 'OrderCancelled',
        creationDate: new Date(date),
        payload: { OrderId: body.id },
      })
    await loseRace()
    const { state, ...document } = documentOf(body.id) as OrderDocument
    const earlier = { ...document, state: { ...state, OrderCancelled: cancelled('2026-01-01T00:00:00Z') } }
    raceWith(`order/${body.id}`, earlier)
    await take(app, 'orderevents', cancelled('2026-02-01T00:00:00Z'))
    expect(documentOf(body.id)).to.deep.equal(earlier)
  })

  it('keeps an order in the list when another OrderCreated of the same order arrives with an earlier date', async () => {
    const { body } = await create()
    const { customerName: CustomerName, customerTaxId: CustomerTaxId, total: Total } = body
    const earlier = outsideOrder({ OrderId: body.id, CustomerName, CustomerTaxId, Total })
    await take(app, 'orderevents', { ...earlier, CreationDate: '2020-01-01T00:00:00Z' })
    const list = await withServer(app.web, (url) => send<{ items: Order[] }>(`${url}/v1/orders`))
    expect(list.body.items.map(({ createdAt }) => createdAt)).to.deep.equal(['2020-01-01T00:00:00Z'])
  })

  it('keeps an order’s position in the list when later events of the order arrive', async () => {
    const [one, other] = [await create(), await create()]
    const slot = documentOf(one.body.id)?.listed
    await take(app, 'paymentevents', approved(one.body.id, anOrder.total, '2026-01-01T00:00:00Z'))
    await cancel(one.body.id)
    expect(documentOf(one.body.id)?.listed).to.equal(slot).and.to.be.a('string')
    const list = await withServer(app.web, (url) => send<{ items: Order[] }>(`${url}/v1/orders`))
    expect(list.body.items.map(({ id, status }) => [id, status])).to.deep.equal([
      [other.body.id, 'Created'],
      [one.body.id, 'Cancelled'],
    ])
  })

  it('lists an order whose payment arrived first as soon as the order arrives', async () => {
    const event = outsideOrder()
    const { OrderId } = event.Payload
    const ids = async () => {
      const list = await withServer(app.web, (url) => send<{ items: Order[] }>(`${url}/v1/orders`))
      return list.body.items.map(({ id }) => id)
    }
    await take(app, 'paymentevents', approved(OrderId, 1, '2026-01-01T00:00:00Z'))
    expect([(await get(OrderId)).status, await ids()]).to.deep.equal([404, []])
    expect(Object.keys(documentOf(OrderId)?.state ?? {})).to.deep.equal(['PaymentApproved'])
    expect(documentOf(OrderId)).not.to.have.property('listed')
    await take(app, 'orderevents', event)
    expect([(await get(OrderId)).body.status, await ids()]).to.deep.equal(['Paid', [OrderId]])
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
        const { status, body } = await create(undefined, amount)
        const { errors } = body as unknown as { errors?: { pointer: string; detail: string }[] }
        expect([status, errors?.length, errors?.[0]?.pointer]).to.deep.equal([400, 1, '/total'])
        expect(errors?.[0]?.detail).to.match(detail)
        expect(published()).to.deep.equal([])
      })
    }

    it('shows the currency with every order', async () => {
      const { body } = await create('key-11', 0.01)
      expect(body).to.include({ total: 0.01, currency: 'EUR' })
      expect((await get(body.id)).body).to.include({ total: 0.01, currency: 'EUR' })
      const list = await withServer(app.web, (url) => send<{ items: Order[] }>(`${url}/v1/orders`))
      expect(list.body.items[0]).to.include({ id: body.id, currency: 'EUR' })
      const cancelled = await withServer(app.web, (url) => post(`${url}/v1/orders/${body.id}/cancel`, {}))
      expect(cancelled.body).to.include({ id: body.id, currency: 'EUR' })
    })

    for (const amount of [42.555, 1e-300, 0.1 + 0.2]) {
      it(`sends an event with the amount ${amount} to the dead-letter topic, and creates no order`, async () => {
        const event = outsideOrder({ Total: amount })
        await take(app, 'orderevents', event)
        const [deadLetter] = sidecar.published
        expect(deadLetter?.headers['deadletter-reason']).to.equal('invalid-amount')
        expect(deadLetter?.headers['deadletter-detail']).to.match(/^Total has more decimals than EUR: round it/)
        expect((await get(event.Payload.OrderId)).status).to.equal(404)
      })
    }

    it('rejects a PaymentApproved with an invalid amount', async () => {
      await take(app, 'paymentevents', approved(randomUUID(), 42.555, '2026-01-01T00:00:00Z'))
      expect(sidecar.published[0]?.headers['deadletter-detail']).to.match(/^Amount has more decimals/)
    })

    it('reads -0 in an event as 0', async () => {
      const event = outsideOrder({ Total: 1 })
      const { OrderId } = event.Payload
      const text = JSON.stringify(event).replace('"Total":1', '"Total":-0')
      await withServer(app.channel, (url) => {
        const metadata = { __partition: '0', __offset: '0' }
        const entries = [{ entryId: '0', event: Buffer.from(text).toString('base64'), metadata }]
        return post(`${url}/subscriptions/orderevents`, { entries }, { 'dapr-api-token': 'app' })
      })
      expect(Object.is((await get(OrderId)).body.total, 0)).to.equal(true)
      await take(app, 'orderevents', { ...event, Payload: { ...event.Payload, Total: 0 } })
      expect(sidecar.published).to.deep.equal([])
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
    await take(app, 'orderevents', { ...event, Headers: { more: 'y'.repeat(1_000) } })
    const sizes = [...sidecar.documents.values()].map(({ value }) => JSON.stringify(value).length)
    expect(Math.max(...sizes)).to.be.below(1_000)
    expect((await get(event.Payload.OrderId)).body.total).to.equal(1)
  })

  it('creates one order for two equal requests with the same key in two replicas at once', async () => {
    const [one, other] = await placeInTwoReplicas('key-4', anOrder.total, anOrder.total)
    expect([one.status, other.status, other.body.id]).to.deep.equal([201, 201, one.body.id])
    expect(new Set(published()).size).to.equal(1)
  })

  it('shares its sidecar calls among concurrent requests', async () => {
    const placed = await createAtOnce(Array.from({ length: 50 }, (_, index) => index + 1))
    expect(placed.map(({ status }) => status)).to.deep.equal(Array(50).fill(201))
    expect(sidecar.published).to.have.length(50)
    expect(Math.max(sidecar.calls.publish, sidecar.calls.transact)).to.be.at.most(2)
  })

  it('stores a whole delivery of payments in one transaction, and confirms by a second read that its documents are new', async () => {
    const payments = () => Array.from({ length: 20 }, () => approved(randomUUID(), 1, '2026-01-01T00:00:00Z'))
    await take(app, 'paymentevents', ...payments())
    // The first batch of a process also reads the lanes of announcements and the list.
    expect(sidecar.calls).to.deep.equal({ publish: 0, read: 1 + 1 + 1 + 2, readOne: 0, transact: 1, save: 0 })
    await take(app, 'paymentevents', ...payments())
    expect(sidecar.calls).to.deep.equal({ publish: 0, read: 5 + 1 + 1, readOne: 0, transact: 2, save: 0 })
  })
})
