import { randomUUID } from 'node:crypto'
import { deterministicId } from '@orderflow/envelope-schema'
import { createApp, createLog, readSettings, SidecarError } from '@orderflow/service-kit'
import { FakeSidecar, post, publisherOf, send, withServer } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import fc from 'fast-check'
import { service } from '../src/service.ts'
import { deliverTo } from './payments.ts'

const settings = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
const log = createLog('payment-service', 'silent')
const orderId = deterministicId('order', 'key')

const event = (name: string, payload: object, id = name) => ({
  Id: deterministicId('event', id),
  CorrelationId: deterministicId('correlation', id),
  TraceId: deterministicId('trace', id),
  AppId: deterministicId('app', 'outside'),
  AppName: 'older-application',
  Name: name,
  Version: 1,
  CreationDate: '2026-11-21T10:00:00Z',
  Payload: payload,
})
const created = (OrderId: string, Total = 42.5) =>
  event('OrderCreated', { OrderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total }, `${OrderId} ${Total}`)
const cancelled = event('OrderCancelled', { OrderId: orderId })

const { id: AppId, name: AppName } = publisherOf('OrderExpired')
const expired = { ...event('OrderExpired', { OrderId: orderId, Total: 42.5 }), AppId, AppName }

/** Creates a process whose clock shows this day, so that a repeated decision would give a payment another date. */
function processOn(sidecar: FakeSidecar, day: string) {
  const app = createApp(service, { settings, log, sidecar, now: () => new Date(day), newId: randomUUID })
  const url = <T>(use: (url: string) => Promise<T>) => withServer(app.web, use)
  const pay = (amount: number, headers: Record<string, string>) =>
    url((at) => post<{ id: string }>(`${at}/v1/payments`, { orderId, amount }, headers))
  const paymentId = deterministicId('payment', orderId)
  return {
    get: () => url((at) => send(`${at}/v1/payments/${paymentId}`)),
    find: () => url((at) => send(`${at}/v1/payments?orderId=${orderId}`)),
    pay,
    failNextPublication: () => void sidecar.failures.publish.push(new SidecarError('call', new Error('refused'))),
    deliver: (...events: object[]) => deliverTo(app, ...events),
  }
}
type Process = ReturnType<typeof processOn>
type Operation = (process: Process) => Promise<{ status: number; body: unknown }>

const histories: Record<string, Operation[]> = {
  none: [],
  charged: [(process) => process.deliver(created(orderId))],
  'charged, but not announced': [
    (process) => {
      process.failNextPublication()
      return process.deliver(created(orderId))
    },
  ],
  'paid by hand': [(process) => process.pay(42.5, { 'idempotency-key': 'key' })],
  refunded: [(process) => process.deliver(created(orderId)), (process) => process.deliver(cancelled)],
  expired: [(process) => process.deliver(expired)],
  'cancelled first': [(process) => process.deliver(cancelled)],
}

const operations: Record<string, Operation> = {
  GET: (process) => process.get(),
  'GET by its order': (process) => process.find(),
  'POST, a retry': (process) => process.pay(42.5, { 'idempotency-key': 'key' }),
  'POST without a key': (process) => process.pay(42.5, {}),
  'OrderCreated again': (process) => process.deliver(created(orderId)),
  'a conflicting OrderCreated': (process) => process.deliver(created(orderId, 1)),
  'OrderCancelled again': (process) => process.deliver(cancelled),
  OrderExpired: (process) => process.deliver(expired),
  'many OrderCreated, one of them again': (process) =>
    process.deliver(
      ...Array.from({ length: 9 }, (_, index) => created(deterministicId('order', String(index)))),
      created(orderId),
    ),
}

/** Makes each bulk read return at least one existing document. SQLite never omits all, because it reports an error before the first row. */
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
async function documentsAfter(type: string, history: Operation[]) {
  const sidecar = new FakeSidecar(type)
  const process = processOn(sidecar, '2026-11-21T10:00:00Z')
  for (const happen of history) await happen(process)
  return sidecar.documents
}

/** Returns the response, published events and stored documents of an operation whose bulk reads omit some documents. */
async function outcome(type: string, earlier: FakeSidecar['documents'], operation: string, leftOut: number[]) {
  const sidecar = new FakeSidecar(type)
  for (const [key, { value }] of earlier) sidecar.set(key, structuredClone(value), randomUUID())
  const keys = [...sidecar.documents.keys()].toSorted()
  for (const index of leftOut) if (keys.length > 0) sidecar.overlooked.add(keys[index % keys.length] as string)
  if (type === 'state.sqlite' && operation.startsWith('many')) keepFirstRows(sidecar)
  const { status, body } = await (operations[operation] as Operation)(processOn(sidecar, '2026-11-22T10:00:00Z'))
  const stored = [...sidecar.documents].filter(([key]) => key.startsWith('payment/'))
  return withoutRandomValues({
    status,
    body,
    published: sidecar.published.map(({ value }) => JSON.parse(Buffer.from(value).toString())),
    documents: stored.map(([key, { value }]) => [key, { ...(value as object), listed: undefined }]).toSorted(),
  })
}

/** Removes the ids of new conversations, and the marks of lanes, which processes choose at random. */
const withoutRandomValues = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, part) => (/^((correlation|trace)Id|mark)$/i.test(key) ? undefined : part)))

describe('payment-service with incomplete bulk reads', () => {
  for (const type of ['state.sqlite', 'state.postgresql']) {
    for (const operation of Object.keys(operations)) {
      it(`returns and stores the same on ${type} as with complete reads: ${operation}`, async () => {
        await fc.assert(
          fc.asyncProperty(
            fc.constantFrom(...Object.keys(histories)),
            fc.uniqueArray(fc.nat(5), { maxLength: 6 }),
            async (name, leftOut) => {
              const earlier = await documentsAfter(type, histories[name] as Operation[])
              const whole = await outcome(type, earlier, operation, [])
              expect(await outcome(type, earlier, operation, leftOut)).to.deep.equal(whole)
            },
          ),
          { numRuns: 5 },
        )
      })
    }
  }
})
