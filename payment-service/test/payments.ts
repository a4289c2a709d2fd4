import { randomUUID } from 'node:crypto'
import { type EventName, type FullEvent, noTenant, type Tenant } from '@orderflow/envelope-schema'
import {
  type App,
  createDocuments,
  createPublish,
  createPublisher,
  currencyOf,
  openEntity,
  type Reactions,
} from '@orderflow/service-kit'
import { capturedLog, FakeSidecar, post, withServer } from '@orderflow/service-kit/testing'
import { event } from '@orderflow/test-kit/scenario'
import { expect } from 'chai'
import { type Payment, payment, paymentIdOf } from '../src/payment.ts'
import { amountLimit, type Policy } from '../src/policy.ts'

export const app = { id: randomUUID(), name: 'payment-service' }
export const orderId = randomUUID()
export const paymentId = paymentIdOf(orderId)

const [ten, eleven] = ['2026-11-21T10:00:00.000Z', '2026-11-21T11:00:00.000Z']

type Received = FullEvent<'OrderCreated'> | FullEvent<'OrderCancelled'> | FullEvent<'OrderExpired'>
export type Announced = FullEvent<'PaymentApproved' | 'PaymentRejected' | 'PaymentRefunded'>

interface EventFields {
  OrderId?: string
  tenant?: Tenant
}

export const created = (Total = 42.5, { OrderId = orderId, ...fields }: EventFields = {}): Received =>
  event('OrderCreated', { OrderId, Total }, fields)
export const expired = (Total = 42.5, { OrderId = orderId, ...fields }: EventFields = {}): Received =>
  event('OrderExpired', { OrderId, Total }, fields)
export const cancelled = ({ OrderId = orderId, ...fields }: EventFields = {}): Received =>
  event('OrderCancelled', { OrderId }, fields)

export interface Request {
  orderId?: string
  amount?: number
  tenant?: Tenant
  idempotencyKey?: string
  traceId?: string
}

interface Options {
  policy?: Policy
  sidecar?: FakeSidecar
  /** True if tenants share their documents. */
  isShared?: boolean
  /** Returns the time of a decision. Default: 10:00, then 11:00, and an hour later each time. */
  now?: () => Date
}

/** Opens the payments of a process in memory. */
export function openPayments({
  policy = amountLimit(10_000),
  sidecar = new FakeSidecar(),
  isShared = false,
  now = hours(),
}: Options = {}) {
  const documents = createDocuments(sidecar, () => new Date(ten), isShared)
  const publish = createPublish(createPublisher(sidecar), { sign: () => undefined }, undefined)
  const { log } = capturedLog()
  const payments = openEntity(payment(policy, currencyOf('EUR')), {
    ...{ app, documents, publish, now, newId: randomUUID, log },
  })
  return {
    sidecar,
    react: (...events: Received[]) => inSequence(payments.reactions, events),
    /** Restores events of the log. Returns for each event whether it changed the payment. */
    restore: (...events: FullEvent[]) => inSequence(payments.rebuild, events),
    make: ({ orderId: id = orderId, amount = 42.5, tenant = noTenant, ...request }: Request = {}) =>
      payments.do.make(paymentIdOf(id), { orderId: id, amount }, { tenant, ...request }),
    get: (tenant = noTenant): Promise<Payment | undefined> => payments.get(tenant, paymentId),
    state: (tenant = noTenant) => payments.state(tenant, paymentId),
    page: (tenant = noTenant) => payments.page(tenant, { cursor: undefined, limit: 10 }),
    announced: () => announcedIn(sidecar),
  }
}

function hours(): () => Date {
  let next = Date.parse(ten)
  return () => {
    const now = new Date(next)
    next += Date.parse(eleven) - Date.parse(ten)
    return now
  }
}

async function inSequence(reactions: Reactions<boolean>, events: readonly FullEvent[]): Promise<boolean[]> {
  const results: boolean[] = []
  for (const one of events) {
    const found = Object.values(reactions).flatMap((handlers) => handlers[one.Name as EventName] ?? [])
    results.push(await (found[0] as (event: FullEvent) => Promise<boolean>)(one))
  }
  return results
}

/** Returns the announcements in the log, each once. Fails if two records with the same Id have different bytes. */
function announcedIn(sidecar: FakeSidecar): Announced[] {
  const texts = new Map<string, string>()
  for (const { value } of sidecar.published) {
    const text = Buffer.from(value).toString()
    const { Id } = JSON.parse(text) as { Id: string }
    expect(text, 'the bytes of a repeated announcement').to.equal(texts.get(Id) ?? text)
    texts.set(Id, text)
  }
  return [...texts.values()].map((text) => JSON.parse(text) as Announced)
}

/** Delivers events of orders as the sidecar does. */
export const deliverTo = ({ channel }: App, ...events: { Payload?: object }[]) =>
  withServer(channel, (url) => {
    const entries = events.map((event, offset) => ({
      entryId: String(offset),
      event: Buffer.from(JSON.stringify(event)).toString('base64'),
      metadata: { __key: Object(event.Payload).OrderId, __partition: '0', __offset: String(offset) },
    }))
    return post<{ statuses: { status: string }[] }>(
      `${url}/subscriptions/orderevents`,
      { entries },
      { 'dapr-api-token': 'app' },
    )
  })
