import { randomUUID } from 'node:crypto'
import { createEnvelope } from '@orderflow/envelope-schema'
import {
  type App,
  createApp,
  createDocuments,
  createLog,
  createParts,
  readSettings,
  SidecarError,
} from '@orderflow/service-kit'
import { FakeSidecar, post, send, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import type { Payment } from '../src/payment.ts'
import { service } from '../src/service.ts'
import { deliverTo } from './payments.ts'

const settings = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
const log = createLog('payment-service', 'silent')
const down = () => new SidecarError('call', new Error('connection refused'))

describe('payment-service with a failing sidecar or store', () => {
  let sidecar: FakeSidecar
  let app: App
  let clock: number
  let orderId: string
  beforeEach(() => {
    clock = Date.parse('2026-11-21T10:00:00Z')
    orderId = randomUUID()
    sidecar = new FakeSidecar()
    app = newProcess()
  })
  function newProcess(): App {
    const now = () => {
      clock += 1_000
      return new Date(clock)
    }
    return createApp(service, { settings, log, sidecar, now, newId: randomUUID })
  }

  const eventOf = (name: 'OrderCreated' | 'OrderCancelled', OrderId = orderId) =>
    createEnvelope({
      app: { id: randomUUID(), name: 'older-application' },
      type: `${name}@1`,
      id: randomUUID(),
      creationDate: new Date(clock),
      payload: { OrderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total: 42.5 },
    })

  const deliver = async (target: App, ...events: { Payload: object }[]) =>
    (await deliverTo(target, ...events)).body.statuses.map(({ status }) => status)
  const pay = (amount = 42.5, key?: string, id = orderId, target = app) =>
    withServer(target.web, (url) => {
      const headers = key ? { 'idempotency-key': key } : {}
      return post<Payment & { detail: string; paymentId: string }>(
        `${url}/v1/payments`,
        { orderId: id, amount },
        headers,
      )
    })
  const payments = () =>
    withServer(app.web, async (url) => {
      const list = await send<{ items: Payment[] }>(`${url}/v1/payments?orderId=${orderId}`)
      return list.body.items
    })
  const announced = () => sidecar.published.map(({ value }) => Buffer.from(value).toString())

  it('announces the same payment after a crash between saving and announcing', async () => {
    const created = eventOf('OrderCreated')
    sidecar.failures.publish.push(down())
    expect(await deliver(app, created)).to.deep.equal(['RETRY'])
    const [saved] = await payments()
    expect(await deliver(newProcess(), created, created)).to.deep.equal(['SUCCESS', 'SUCCESS'])
    expect(await payments()).to.deep.equal([saved])
    const [event, ...others] = announced()
    expect(new Set([event, ...others]).size).to.equal(1)
    expect(JSON.parse(event ?? '')).to.deep.include({ Name: 'PaymentApproved', CreationDate: saved?.createdAt })
  })

  it('announces only stored payments', async () => {
    const created = eventOf('OrderCreated')
    sidecar.failures.transact.push(down())
    expect(await deliver(app, created)).to.deep.equal(['RETRY'])
    expect(announced()).to.deep.equal([])
    expect(await deliver(newProcess(), created)).to.deep.equal(['SUCCESS'])
    expect(announced().map((text) => JSON.parse(text).CreationDate)).to.deep.equal([(await payments())[0]?.createdAt])
  })

  it('stores and publishes a whole delivery with one call each, and confirms by a second read that its documents are new', async () => {
    await deliver(app, ...Array.from({ length: 20 }, () => eventOf('OrderCreated', randomUUID())))
    expect(announced()).to.have.length(20)
    // The reads are: documents, documents that seem new, and two for the list. Only the first write reads the lanes of announcements and of calls.
    expect(sidecar.calls).to.deep.equal({
      publish: 1,
      read: 1 + 1 + 2 + 1 + 1,
      readOne: 0,
      transact: 1,
      save: 0,
      remove: 0,
    })
    Object.assign(sidecar.calls, { publish: 0, read: 0, transact: 0 })
    await deliver(app, ...Array.from({ length: 20 }, () => eventOf('OrderCreated', randomUUID())))
    expect(announced()).to.have.length(40)
    expect(sidecar.calls).to.deep.equal({ publish: 1, read: 1 + 1, readOne: 0, transact: 1, save: 0, remove: 0 })
  })

  it('decides once when two processes receive the same event', async () => {
    const other = newProcess()
    const created = eventOf('OrderCreated')
    const statuses = await Promise.all([deliver(app, created), deliver(other, created)])
    expect(statuses).to.deep.equal([['SUCCESS'], ['SUCCESS']])
    expect(await payments()).to.have.length(1)
    expect(new Set(announced()).size).to.equal(1)
  })

  it('makes one payment if two processes decide about an order, and the slower process writes after the faster process has announced its payment', async () => {
    sidecar = new FakeSidecar('state.postgresql')
    const [one, other] = [newProcess(), newProcess()]
    const created = eventOf('OrderCreated')
    sidecar.readTogether(2)
    const save = sidecar.save.bind(sidecar)
    let writers = 0
    sidecar.save = async (writes, etag, needed) => {
      if (writes.some(({ key }) => key.startsWith('payment/'))) writers += 1
      while (writers === 2 && announced().length === 0) await new Promise((resolve) => setImmediate(resolve))
      await save(writes, etag, needed)
    }
    await Promise.all([deliver(one, created), deliver(other, created)])
    app = one
    expect(new Set(announced()).size).to.equal(1)
    expect(JSON.parse(announced()[0] ?? '').CreationDate).to.equal((await payments())[0]?.createdAt)
  })

  it('makes only one payment when a request and an OrderCreated arrive at the same time', async () => {
    const created = eventOf('OrderCreated')
    const [made] = await Promise.all([pay(), deliver(app, created)])
    expect(made.status).to.be.oneOf([201, 409])
    const [payment, ...others] = await payments()
    expect(others).to.deep.equal([])
    expect(payment?.source).to.equal(made.status === 201 ? 'Manual' : 'OrderCreated')
    expect(new Set(announced()).size).to.equal(1)
  })

  it('leaves no charge when two processes handle a cancellation and a charge at the same time', async () => {
    const other = newProcess()
    await Promise.all([deliver(app, eventOf('OrderCreated')), deliver(other, eventOf('OrderCancelled'))])
    expect((await payments()).map(({ status }) => status))
      .to.have.length(1)
      .and.not.to.include('Approved')
  })

  it('reports a requested payment that is stored but not announced, and announces it on the next try', async () => {
    sidecar.failures.publish.push(down())
    const made = await pay()
    expect(made.status).to.equal(503)
    const again = await pay()
    expect([again.status, again.body.paymentId]).to.deep.equal([409, made.body.paymentId])
    expect(announced().map((text) => JSON.parse(text).Payload.PaymentId)).to.deep.equal([made.body.paymentId])
  })

  it('announces a stored payment before it stops, if the request is not sent again', async () => {
    sidecar.failures.publish.push(down())
    expect((await pay()).status).to.equal(503)
    expect(announced()).to.deep.equal([])
    const stop = () => Promise.all(app.backgrounds.map((one) => one.stop()))
    await stop()
    const [payment] = await payments()
    const [event, ...others] = announced().map((text) => JSON.parse(text))
    expect(others).to.deep.equal([])
    expect(event).to.deep.include({ Name: 'PaymentApproved', CreationDate: payment?.createdAt })
    await stop()
    expect(announced()).to.have.length(1)
  })

  it('announces a stored payment before the refund that another process makes', async () => {
    const created = eventOf('OrderCreated')
    sidecar.failures.publish.push(down())
    expect(await deliver(app, created)).to.deep.equal(['RETRY'])
    expect(await deliver(newProcess(), eventOf('OrderCancelled'))).to.deep.equal(['SUCCESS'])
    const names = announced().map((text) => JSON.parse(text).Name)
    expect(names).to.deep.equal(['PaymentApproved', 'PaymentRefunded'])
    expect(await deliver(newProcess(), created)).to.deep.equal(['SUCCESS'])
    expect(new Set(announced()).size).to.equal(2)
  })

  it('returns the same payment when a request is sent again with the same key', async () => {
    sidecar.failures.publish.push(down())
    expect((await pay(42.5, 'key')).status).to.equal(503)
    app = newProcess()
    const [first, second] = [await pay(42.5, 'key'), await pay(42.5, 'key')]
    expect([first.status, second.status]).to.deep.equal([201, 201])
    expect(second.body).to.deep.equal(first.body)
    expect(await payments()).to.deep.equal([first.body])
    expect(new Set(announced()).size).to.equal(1)
    expect((await pay(7, 'key')).status).to.equal(422)
    expect((await pay(42.5, 'another')).status).to.equal(409)
    expect((await pay()).status).to.equal(409)
  })

  describe('Idempotency-Key', () => {
    const payFor = (id: string, key: string, target = app) => pay(42.5, key, id, target)
    const other = randomUUID()
    const rebuildOn = (target: FakeSidecar) => {
      const now = () => new Date(clock)
      const documents = createDocuments(target, now)
      const publish = async () => {
        throw new Error('a rebuild publishes nothing')
      }
      const trust = { requireAdmitted() {} }
      return createParts(service, {
        ...{ settings, log, trust, documents, now, newId: randomUUID },
        ...{ publish, forward: publish },
      }).rebuild
    }

    it('refuses a key that was used for another order, and leaves the new order unpaid', async () => {
      const first = await payFor(orderId, 'key')
      const refused = await payFor(other, 'key')
      expect([first.status, refused.status]).to.deep.equal([201, 422])
      expect(refused.body).to.deep.include({ type: 'urn:orderflow:problem:idempotency-key-reused' })
      expect(refused.body.detail).to.match(/for another payment.*new key/)
      expect(announced()).to.have.length(1)
      expect((await payFor(orderId, 'key')).body).to.deep.equal(first.body)
      expect((await payFor(other, 'another')).status).to.equal(201)
    })

    it('belongs to one order when two requests send it at once', async () => {
      const replica = newProcess()
      sidecar.readTogether(2)
      const answers = await Promise.all([payFor(orderId, 'key'), payFor(other, 'key', replica)])
      expect(answers.map(({ status }) => status).toSorted()).to.deep.equal([201, 422])
      expect(announced()).to.have.length(1)
    })

    it('lets a rebuild report a payment without a key as known', async () => {
      await pay()
      const [event] = announced().map((text) => JSON.parse(text))
      const rebuild = rebuildOn(sidecar)
      // A service whose rebuild would change a payment treats its store as incomplete.
      expect(await rebuild.paymentevents?.PaymentApproved?.(event)).to.equal(false)
    })

    it('belongs to the same order after a rebuild', async () => {
      await payFor(orderId, 'key')
      const log = announced().map((text) => JSON.parse(text))
      sidecar = new FakeSidecar()
      app = newProcess()
      const rebuild = rebuildOn(sidecar)
      for (const event of log) await rebuild.paymentevents?.PaymentApproved?.(event)
      expect((await payFor(other, 'key')).status).to.equal(422)
      expect((await pay(7, 'key')).status).to.equal(422)
      expect((await payFor(orderId, 'key')).status).to.equal(201)
      expect(announced()).to.have.length(0)
    })
  })

  describe('amounts of payments', () => {
    for (const [amount, detail] of [
      [42.555, /has more decimals than EUR: round it to 2 decimals/],
      [0, /must be greater than 0/],
      [1e12 + 1, /must be at most 1000000000000/],
    ] as const) {
      it(`refuses ${amount} in the API, and names the field and the reason`, async () => {
        const { status, body } = await pay(amount)
        const { errors } = body as unknown as { errors?: { pointer: string; detail: string }[] }
        expect([status, errors?.length, errors?.[0]?.pointer]).to.deep.equal([400, 1, '/amount'])
        expect(errors?.[0]?.detail).to.match(detail)
        expect(announced()).to.deep.equal([])
      })
    }

    it('shows the currency with every payment', async () => {
      const { body } = await pay()
      expect(body).to.include({ amount: 42.5, currency: 'EUR' })
      expect((await payments())[0]).to.include({ currency: 'EUR' })
      const list = await withServer(app.web, (url) => send<{ items: Payment[] }>(`${url}/v1/payments`))
      const one = await withServer(app.web, (url) => send<Payment>(`${url}/v1/payments/${body.id}`))
      expect([list.body.items[0], one.body]).to.deep.equal([body, body])
    })

    it('sends an OrderCreated with too many decimals to the dead-letter topic, and charges nothing', async () => {
      const event = eventOf('OrderCreated')
      await deliver(app, { ...event, Payload: { ...event.Payload, Total: 42.555 } })
      expect(sidecar.published.map(({ headers }) => headers['deadletter-reason'])).to.deep.equal(['invalid-amount'])
      expect(sidecar.published[0]?.headers['deadletter-detail']).to.match(/^Total has more decimals than EUR/)
      expect(await payments()).to.deep.equal([])
    })
  })

  it('keeps a refunded payment in the list, and announces nothing when an order with a rejected payment is cancelled', async () => {
    await deliver(app, eventOf('OrderCreated'), eventOf('OrderCancelled'))
    const list = await withServer(app.web, (url) => send<{ items: Payment[] }>(`${url}/v1/payments`))
    expect(list.body.items.map(({ status }) => status)).to.deep.equal(['Refunded'])
    orderId = randomUUID()
    sidecar.published.length = 0
    await deliver(app, eventOf('OrderCancelled'), eventOf('OrderCreated'), eventOf('OrderCancelled'))
    expect(announced().map((text) => JSON.parse(text).Name)).to.deep.equal(['PaymentRejected'])
  })
})
