import { randomUUID } from 'node:crypto'
import { deterministicId } from '@orderflow/envelope-schema'
import { createApp, createLog } from '@orderflow/service-kit'
import { FakeSidecar, post, publisherOf, send, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import fc from 'fast-check'
import { service } from '../src/service.ts'
import { type OrderDocument, settings, take } from './tested-service.ts'

const now = () => new Date('2026-11-21T10:00:00Z')
const [outside, payments] = [{ id: deterministicId('app', 'outside'), name: 'older' }, publisherOf('PaymentApproved')]
const anOrder = { customerName: 'Ada', customerTaxId: 'T', total: 42.5 }
const orderId = deterministicId('order', settings.App.Id, 'key')
const payment = { OrderId: orderId, PaymentId: deterministicId('payment', orderId), Amount: 42.5 }

const event = (name: string, payload: object, id = name, app = outside) => ({
  Id: deterministicId('event', id),
  CorrelationId: deterministicId('correlation', id),
  TraceId: deterministicId('trace', id),
  AppId: app.id,
  AppName: app.name,
  Name: name,
  Version: 1,
  CreationDate: now().toISOString(),
  Payload: payload,
})
const announced = (name: string, payload: object) => event(name, { ...payment, ...payload }, name, payments)

const created = { OrderId: orderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total: 42.5 }
const decision = { Policy: 'p', Source: 'OrderCreated' }
const events = {
  OrderCreated: event('OrderCreated', created),
  OrderCancelled: event('OrderCancelled', { OrderId: orderId }),
  PaymentApproved: announced('PaymentApproved', decision),
  PaymentRejected: announced('PaymentRejected', { ...decision, Reason: 'too much' }),
  PaymentRefunded: announced('PaymentRefunded', { Reason: 'cancelled' }),
}
type Name = keyof typeof events
const names = Object.keys(events) as Name[]

function processOn(sidecar: FakeSidecar) {
  const log = createLog('order-service', 'silent')
  const app = createApp(service, { settings, log, sidecar, now, newId: randomUUID })
  const url = <T>(use: (url: string) => Promise<T>) => withServer(app.web, use)
  return {
    get: () => url((at) => send(`${at}/v1/orders/${orderId}`)),
    cancel: () => url((at) => post(`${at}/v1/orders/${orderId}/cancel`, {})),
    place: (total: number, key: string) =>
      url((at) => post(`${at}/v1/orders`, { ...anOrder, total }, { 'idempotency-key': key })),
    list: () => url((at) => send<{ items: { id: string; status: string }[] }>(`${at}/v1/orders`)),
    deliver: (...delivered: object[]) =>
      take(app, JSON.stringify(delivered).includes('"Name":"Payment') ? 'paymentevents' : 'orderevents', ...delivered),
  }
}
type Process = ReturnType<typeof processOn>

const operations: Record<string, (process: Process) => Promise<{ status: number; body: unknown }>> = {
  GET: (process) => process.get(),
  cancel: (process) => process.cancel(),
  'POST, a retry': (process) => process.place(42.5, 'key'),
  'POST, the key of another order': (process) => process.place(1, 'key'),
  'a conflicting OrderCreated': (process) =>
    process.deliver(event('OrderCreated', { ...created, Total: 1 }, 'conflicting')),
  'many OrderCreated, one of them conflicting': (process) => {
    const others = Array.from({ length: 9 }, (_, index) => {
      const id = deterministicId('order', String(index))
      return event('OrderCreated', { ...created, OrderId: id }, id)
    })
    return process.deliver(...others, event('OrderCreated', { ...created, Total: 1 }, 'conflicting'))
  },
  ...Object.fromEntries(names.map((name) => [`${name} again`, (process: Process) => process.deliver(events[name])])),
}

/** Makes each bulk read return at least one existing document, because SQLite reports errors before the first row. */
function keepFirstRows(sidecar: FakeSidecar): void {
  const read = sidecar.read.bind(sidecar)
  sidecar.read = async (keys) => {
    const found = await read(keys)
    const first = keys.find((key) => sidecar.documents.has(key))
    if (found.size === 0 && first !== undefined)
      found.set(first, structuredClone(sidecar.documents.get(first) as never))
    return found
  }
}

/** Returns the documents that a process stores in a history. */
async function documentsAfter(type: string, facts: Name[], isPlaced: boolean) {
  const sidecar = new FakeSidecar(type)
  const process = processOn(sidecar)
  if (isPlaced) await process.place(42.5, 'key')
  for (const name of facts) await process.deliver(events[name])
  return sidecar.documents
}

/** Returns the response, published events and stored documents of an operation whose bulk reads omit some documents. */
async function outcome(type: string, earlier: FakeSidecar['documents'], operation: string, leftOut: number[]) {
  const sidecar = new FakeSidecar(type)
  for (const [key, { value }] of earlier) sidecar.set(key, structuredClone(value), randomUUID())
  const keys = [...sidecar.documents.keys()].toSorted()
  for (const index of leftOut) if (keys.length > 0) sidecar.overlooked.add(keys[index % keys.length] as string)
  if (type === 'state.sqlite' && operation.startsWith('many')) keepFirstRows(sidecar)
  const answer = await (operations[operation] as (process: Process) => Promise<{ status: number; body: unknown }>)(
    processOn(sidecar),
  )
  const stored = [...sidecar.documents].filter(([key]) => key.startsWith('order/'))
  return withoutRandomIds({
    status: answer.status,
    body: answer.body,
    published: sidecar.published.map(({ value }) => JSON.parse(Buffer.from(value).toString())),
    documents: stored.map(([key, { value }]) => [key, withoutPositions(value as OrderDocument)]).toSorted(),
  })
}

/** Returns a document without its position in the list and the marks of its events, which are random. */
const withoutPositions = ({ state, listed, unannounced = [], ...others }: OrderDocument) => ({
  ...{ state, isListed: listed !== undefined, unannounced: unannounced.map(({ event }) => event), ...others },
})

const withoutRandomIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, part) => (/^(correlation|trace)Id$/i.test(key) ? undefined : part)))

describe('order-service with incomplete bulk reads', () => {
  for (const type of ['state.sqlite', 'state.postgresql']) {
    for (const operation of Object.keys(operations)) {
      it(`returns and stores the same on ${type} as with complete reads: ${operation}`, async () => {
        await fc.assert(
          fc.asyncProperty(
            fc.subarray(names),
            fc.boolean(),
            fc.uniqueArray(fc.nat(9), { maxLength: 10 }),
            async (facts, isPlaced, leftOut) => {
              const earlier = await documentsAfter(type, facts, isPlaced)
              const whole = await outcome(type, earlier, operation, [])
              expect(await outcome(type, earlier, operation, leftOut)).to.deep.equal(whole)
            },
          ),
          { numRuns: 5 },
        )
      })
    }
  }

  it('lists an order even if a bulk read omits its document', async () => {
    const sidecar = new FakeSidecar()
    for (const name of ['OrderCreated', 'PaymentApproved'] as const) await processOn(sidecar).deliver(events[name])
    expect([...sidecar.documents.keys()].filter((key) => key.startsWith('order/'))).to.deep.equal([`order/${orderId}`])
    sidecar.overlooked.add(`order/${orderId}`)
    const { body } = await processOn(sidecar).list()
    expect(body.items.map(({ id, status }) => [id, status])).to.deep.equal([[orderId, 'Paid']])
  })
})
