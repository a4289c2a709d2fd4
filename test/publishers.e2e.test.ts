import { randomUUID } from 'node:crypto'
import type { RunningStack } from '@orderflow/stack'
import { expect } from 'chai'
import type { Order } from '../order-service/src/domain/order.ts'
import { anOrder, orderWith, paymentsOf, post, send } from './support/api.ts'
import { eventually } from './support/eventually.ts'
import { createProducer, openLog } from './support/kafka.ts'
import { theStack } from './support/stack.ts'

const app = { AppId: 'd1f6c5a2-3a3e-4b7e-9f0e-1c2d3e4f5a6b', AppName: 'older-application' }

function reduced(payload: object = {}, changes: object = {}) {
  const OrderId = randomUUID()
  const Payload = { OrderId, CustomerName: 'Grace Hopper', CustomerTaxId: 'US-1', Total: 10, ...payload }
  const CreationDate = '2026-11-21T09:30:00+01:00'
  return { ...app, Version: 1, Name: 'OrderCreated', CreationDate, Payload, ...changes }
}

const full = (payload: object = {}) => ({
  ...reduced(payload),
  Id: randomUUID(),
  CorrelationId: randomUUID(),
  TraceId: randomUUID(),
  Headers: { Source: 'legacy' },
  TenantID: '',
  TenantUserID: '',
})

/** Texts that have broken stores, templates and parsers; every one is stored exactly. */
const hostile = {
  'a field reference of a store': '$CustomerTaxId',
  'a variable of a store': '$$NOW',
  'an operator of a store': '{"$set":{"a":1}}',
  'dots and a NUL': 'a.b..c\u0000d',
  SQL: "'; DROP TABLE state; --",
  markup: '<script>alert("x")</script> & <b>',
  'unicode beyond the first plane': '𝒜𝓭𝓪 👩‍🚀 é \u202e\u2028',
  'a lone surrogate': 'x\ud800y',
  'property names of objects': '__proto__',
  'quotes and backslashes': '\\"\\\\u0041\n\t',
  'a key separator of Dapr': 'a||b',
  blanks: '   ',
}

describe('publishers outside the platform', () => {
  let stack: RunningStack
  let producer: ReturnType<typeof createProducer>
  let dead: Awaited<ReturnType<typeof openLog>>
  before(async function () {
    this.timeout(120_000)
    stack = await theStack()
    producer = createProducer(stack.kafka)
    dead = await openLog(stack.kafka, ['orderevents.dead', 'paymentevents.dead'])
  })
  after(() => Promise.all([producer.close(), dead.close()]))

  const publish = (envelope: object, key?: string) =>
    producer.send({ topic: 'orderevents', value: JSON.stringify(envelope), ...(key !== undefined && { key }) })

  for (const [variant, make] of Object.entries({ full, reduced })) {
    for (const keyed of [true, false]) {
      it(`get an order and a payment for a ${variant} envelope ${keyed ? 'with' : 'without'} a key`, async () => {
        const envelope = make()
        await publish(envelope, keyed ? envelope.Payload.OrderId : undefined)
        const order = await orderWith(stack.orderUrl, envelope.Payload.OrderId, 'Paid')
        expect(order).to.include({ customerName: 'Grace Hopper', total: 10, createdAt: '2026-11-21T09:30:00+01:00' })
        if ('CorrelationId' in envelope) expect(order.correlationId).to.equal(envelope.CorrelationId)
        const [payment] = await paymentsOf(stack.paymentUrl, order.id)
        // Both services derive the ids that a reduced envelope lacks from its place in the log.
        expect(payment).to.include({ correlationId: order.correlationId, traceId: order.traceId, amount: 10 })
      })
    }
  }

  it('leave one order and one payment when they send the same event again, with or without its key', async () => {
    const envelope = full()
    const orderId = envelope.Payload.OrderId
    await publish(envelope, orderId)
    await orderWith(stack.orderUrl, orderId, 'Paid')
    for (const key of [orderId, undefined, 'another key']) await publish(envelope, key)
    const marker = full()
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) await publish(marker, key)
    await orderWith(stack.orderUrl, marker.Payload.OrderId, 'Paid')
    expect(await paymentsOf(stack.paymentUrl, orderId)).to.have.length(1)
    const { body } = await send<{ items: Order[] }>(`${stack.orderUrl}/v1/orders?limit=100`)
    expect(body.items.filter(({ id }) => id === orderId)).to.have.length(1)
    const payments = await send<{ items: { orderId: string }[] }>(`${stack.paymentUrl}/v1/payments?limit=100`)
    expect(payments.body.items.filter((payment) => payment.orderId === orderId)).to.have.length(1)
  })

  it('may write GUIDs in upper case and add fields nobody knows', async () => {
    const envelope = reduced({ Note: { nested: ['x'] } }, { Extra: 1 })
    const orderId = envelope.Payload.OrderId
    await publish({ ...envelope, Payload: { ...envelope.Payload, OrderId: orderId.toUpperCase() } })
    await orderWith(stack.orderUrl, orderId, 'Paid')
  })

  for (const [what, text] of Object.entries(hostile)) {
    it(`have ${what} stored exactly`, async () => {
      const envelope = full({ CustomerName: text, CustomerTaxId: text })
      await publish(envelope)
      const order = await orderWith(stack.orderUrl, envelope.Payload.OrderId, 'Paid')
      expect([order.customerName, order.customerTaxId]).to.deep.equal([text, text])
      const posted = await post<Order>(`${stack.orderUrl}/v1/orders`, {
        ...anOrder,
        customerName: text,
        customerTaxId: text,
      })
      const read = await orderWith(stack.orderUrl, posted.body.id, 'Paid')
      expect([read.customerName, read.customerTaxId]).to.deep.equal([text, text])
    })
  }

  const deep = '['.repeat(20_000) + ']'.repeat(20_000)
  const poison: Record<string, { value: string | Buffer | null; reason: string; tells: string }> = {
    'not UTF-8': { value: Buffer.from([0x7b, 0xff, 0xfe]), reason: 'not-utf8', tells: 'UTF-8' },
    'not JSON': { value: '{"Name": OrderCreated}', reason: 'not-json', tells: 'JSON' },
    'a tombstone': { value: null, reason: 'not-an-envelope', tells: 'tombstone' },
    'a list': { value: '[1,2]', reason: 'not-an-envelope', tells: 'object' },
    'a CloudEvent': { value: '{"specversion":"1.0","data":{}}', reason: 'not-an-envelope', tells: 'CloudEvent' },
    'CreateDate instead of CreationDate': {
      value: JSON.stringify(reduced({}, { CreationDate: undefined, CreateDate: '2026-11-21T09:30:00Z' })),
      reason: 'not-an-envelope',
      tells: 'rename CreateDate to CreationDate',
    },
    'a date without offset': {
      value: JSON.stringify(reduced({}, { CreationDate: '2026-11-21T09:30:00' })),
      reason: 'not-an-envelope',
      tells: '/CreationDate',
    },
    'a total as text': {
      value: JSON.stringify(reduced({ Total: '10' })),
      reason: 'invalid-payload',
      tells: '/Payload/Total',
    },
    'a negative total': {
      value: JSON.stringify(reduced({ Total: -1 })),
      reason: 'invalid-payload',
      tells: '/Payload/Total',
    },
    'an OrderId with a urn: prefix': {
      value: JSON.stringify(reduced({ OrderId: `urn:uuid:${randomUUID()}` })),
      reason: 'invalid-payload',
      tells: '/Payload/OrderId',
    },
    'an empty tax id': {
      value: JSON.stringify(reduced({ CustomerTaxId: '' })),
      reason: 'invalid-payload',
      tells: 'CustomerTaxId',
    },
    'an unknown version': {
      value: JSON.stringify(reduced({}, { Version: 9 })),
      reason: 'unknown-version',
      tells: 'known versions',
    },
    'nesting of 20,000 levels': {
      value: JSON.stringify(reduced({ Note: 'DEEP' })).replace('"DEEP"', deep),
      reason: 'not-an-envelope',
      tells: 'levels',
    },
  }
  for (const [what, { value, reason, tells }] of Object.entries(poison)) {
    it(`pay for ${what} with a dead letter that says why, and hold up nobody`, async () => {
      const key = `poison ${randomUUID()} ü/+%`
      const healthy = full()
      await producer.send(
        { topic: 'orderevents', key, value, headers: { 'x-odd header\n': '\u0001ü', __offset: '999999' } },
        { topic: 'orderevents', key, value: JSON.stringify(healthy) },
      )
      await orderWith(stack.orderUrl, healthy.Payload.OrderId, 'Paid')
      const letters = await eventually(() => {
        const found = dead.records.filter((record) => record.key === key)
        const apps = new Set(found.map((record) => record.headers['deadletter-app']))
        return apps.has('order-service') && (reason === 'handler-error' || apps.has('payment-service'))
          ? found
          : undefined
      }, 'the dead letter of each app')
      for (const letter of letters) {
        expect(letter.headers['deadletter-reason']).to.equal(reason)
        expect(letter.headers['deadletter-detail']).to.contain(tells)
        expect(letter.headers['deadletter-topic']).to.equal('orderevents')
        expect(letter.headers['deadletter-offset']).not.to.equal('999999')
        expect(letter.value.toString('hex')).to.equal(Buffer.from(value ?? '').toString('hex'))
      }
    })
  }

  it('cannot change an order that is known', async () => {
    const envelope = full()
    const orderId = envelope.Payload.OrderId
    await publish(envelope, orderId)
    await orderWith(stack.orderUrl, orderId, 'Paid')
    const contradiction = { ...full(), Payload: { ...envelope.Payload, Total: 11 } }
    await publish(contradiction, orderId)
    const letters = await eventually(() => {
      const found = dead.records.filter((record) => record.key === orderId)
      return found.length >= 2 ? found : undefined
    }, 'a dead letter of each app')
    expect(letters.map((letter) => letter.headers['deadletter-reason'])).to.deep.equal([
      'conflicting-order',
      'conflicting-order',
    ])
    expect((await orderWith(stack.orderUrl, orderId, 'Paid')).total).to.equal(10)
  })

  it('may use event names that nobody here handles', async () => {
    const unknown = reduced({}, { Name: 'OrderShipped' })
    const healthy = full()
    await publish(unknown, 'same key')
    await publish(healthy, 'same key')
    await orderWith(stack.orderUrl, healthy.Payload.OrderId, 'Paid')
    expect(dead.records.filter((record) => record.value.includes('OrderShipped'))).to.deep.equal([])
  })

  it('see a cancellation that overtakes its order prevent the charge', async () => {
    const envelope = full()
    const orderId = envelope.Payload.OrderId
    await publish({ ...full(), Name: 'OrderCancelled', Payload: { OrderId: orderId } }, orderId)
    await publish(envelope, orderId)
    await eventually(
      async () => ((await paymentsOf(stack.paymentUrl, orderId)).length ? true : undefined),
      'the decision',
    )
    const [payment] = await paymentsOf(stack.paymentUrl, orderId)
    expect(payment).to.include({ status: 'Rejected', policy: 'cancelled-before-payment@1' })
    expect((await orderWith(stack.orderUrl, orderId, 'Cancelled')).total).to.equal(10)
  })

  it('may compress, but not to get past the size limit of an event', async () => {
    const small = full()
    await producer.sendCompressed({ topic: 'orderevents', value: JSON.stringify(small) })
    await orderWith(stack.orderUrl, small.Payload.OrderId, 'Paid')
    const large = JSON.stringify(full({ Note: 'x'.repeat(300_000) }))
    const error = await producer
      .sendCompressed({ topic: 'orderevents', value: large })
      .catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(Error)
  })
})
