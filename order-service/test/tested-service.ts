import { randomUUID } from 'node:crypto'
import { createEnvelope } from '@orderflow/envelope-schema'
import { type App, createApp, readSettings, SidecarError } from '@orderflow/service-kit'
import { capturedLog, FakeSidecar, post, publisherOf, send, withServer } from '@orderflow/service-kit/testing'
import type { Order, OrderFacts } from '../src/order.ts'
import { service } from '../src/service.ts'

export const settings = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' })
export const anOrder = { customerName: 'Ada Lovelace', customerTaxId: 'GB-123456789', total: 42.5 }

/** The stored document of an order. */
export interface OrderDocument {
  state: OrderFacts
  listed?: string
  unannounced?: { event: unknown; mark: string }[]
}

export const down = () => new SidecarError('call', new Error('connection refused'))

const outside = () => ({ id: randomUUID(), name: 'older-application' })

export const outsideOrder = (changes: object = {}) =>
  createEnvelope({
    app: outside(),
    type: 'OrderCreated',
    creationDate: new Date(),
    payload: { OrderId: randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'T', Total: 1, ...changes },
  })

/** Returns an order with the service's AppId. Other publishers can use this AppId, too. */
export const ownOrder = (changes: object) => ({
  ...outsideOrder(changes),
  AppId: settings.App.Id,
  AppName: settings.App.Name,
})

export const approved = (OrderId: string, Amount: number, date: string) =>
  createEnvelope({
    app: publisherOf('PaymentApproved'),
    type: 'PaymentApproved',
    creationDate: new Date(date),
    payload: { OrderId, PaymentId: randomUUID(), Amount, Policy: 'p', Source: 'OrderCreated' },
  })

export const cancelled = (OrderId: string, date: string) =>
  createEnvelope({
    app: outside(),
    type: 'OrderCancelled',
    creationDate: new Date(date),
    payload: { OrderId },
  })

/** Delivers values of events as the sidecar does. */
export const deliverTo = ({ channel }: App, topic: string, values: (string | Uint8Array)[], keys: unknown[] = []) =>
  withServer(channel, (url) => {
    const entries = values.map((value, offset) => ({
      entryId: String(offset),
      event: Buffer.from(value).toString('base64'),
      metadata: { __key: keys[offset], __partition: '0', __offset: String(offset) },
    }))
    return post<{ statuses: { status: string }[] }>(
      `${url}/subscriptions/${topic}`,
      { entries },
      { 'dapr-api-token': 'app' },
    )
  })

export const take = (target: App, topic: string, ...events: object[]) =>
  deliverTo(
    target,
    topic,
    events.map((event) => JSON.stringify(event)),
  )

/** The newest process of order-service, on a store and a log in memory. */
export class TestedService {
  sidecar: FakeSidecar
  app: App
  readonly captured = capturedLog()

  constructor() {
    this.sidecar = new FakeSidecar()
    this.app = this.restart()
  }

  /** Starts a new process with the same store and log. */
  restart(sidecar = this.sidecar): App {
    this.sidecar = sidecar
    this.app = createApp(service, {
      ...{ settings, log: this.captured.log, sidecar },
      ...{ now: () => new Date(), newId: randomUUID },
    })
    return this.app
  }

  /** Uses a store without a fence. The app then checks each document for changes instead. */
  useDocumentsOneByOne(): void {
    this.restart(new FakeSidecar('state.postgresql'))
  }

  create(key?: string, total?: number, target = this.app) {
    return withServer(target.web, (url) => place(url, key, total))
  }

  /** Places orders with these totals at once. The server collects all requests before it passes them to the app. */
  createAtOnce(totals: number[], key?: string) {
    const arrived: (() => void)[] = []
    return withServer(
      (request, response) => {
        arrived.push(() => this.app.web(request, response))
        if (arrived.length === totals.length) for (const begin of arrived) begin()
      },
      (url) => Promise.all(totals.map((total) => place(url, key, total))),
    )
  }

  /** Places two orders with the same key in two replicas. Both replicas find no order. */
  async placeInTwoReplicas(key: string, total: number, otherTotal: number) {
    const { app: replica, sidecar } = this
    this.restart()
    sidecar.readTogether(2)
    const transact = sidecar.transact.bind(sidecar)
    let count = 0
    sidecar.transact = async (writes) => {
      count += 1
      // The slower replica writes its order after the faster one has published.
      while (count === 2 && sidecar.published.length === 0) await new Promise((resolve) => setImmediate(resolve))
      await transact(writes)
    }
    return Promise.all([this.create(key, total, replica), this.create(key, otherTotal)])
  }

  /** Makes another replica write a document just before the next transaction. */
  raceWith(key: string, value: unknown): void {
    const { sidecar } = this
    sidecar.beforeWrite = () => {
      sidecar.beforeWrite = () => {}
      sidecar.writeElsewhere(key, value)
    }
  }

  /** Makes the app lose a race with another replica. From then on, the app checks each document instead of the fence (docs/adr/0017). */
  async loseRace(): Promise<void> {
    this.raceWith('another', 1)
    await this.take('orderevents', outsideOrder())
  }

  take(topic: string, ...events: object[]) {
    return take(this.app, topic, ...events)
  }

  /** Delivers all published events. Returns the statuses. */
  async deliver(): Promise<string[]> {
    const { published } = this.sidecar
    const { body } = await deliverTo(
      this.app,
      'orderevents',
      published.map(({ value }) => value),
      published.map(({ key }) => key),
    )
    return body.statuses.map(({ status }) => status)
  }

  /** Announces the events that are stored, but perhaps not announced. A service does so every second, and when it stops. */
  sweep() {
    return this.app.backgrounds.at(-1)?.stop()
  }

  cancel(id: string) {
    return withServer(this.app.web, (url) => post<Answered>(`${url}/v1/orders/${id}/cancel`, {}))
  }

  get(id: string) {
    return withServer(this.app.web, (url) => send<Order>(`${url}/v1/orders/${id}`))
  }

  async list(): Promise<Order[]> {
    const { body } = await withServer(this.app.web, (url) => send<{ items: Order[] }>(`${url}/v1/orders`))
    return body.items
  }

  documentOf(id: string): OrderDocument | undefined {
    return this.sidecar.documents.get(`order/${id}`)?.value as OrderDocument | undefined
  }

  published(): string[] {
    return this.sidecar.published.map(({ value }) => Buffer.from(value).toString())
  }

  /** Returns the reason of each dead letter, and undefined for each other event. */
  reasons(): (string | undefined)[] {
    return this.sidecar.published.map(({ headers }) => headers['deadletter-reason'])
  }

  names(): string[] {
    return this.published().map((text) => JSON.parse(text).Name)
  }
}

type Answered = Order & { detail: string; orderId: string }

function place(url: string, key?: string, total = anOrder.total) {
  const headers = key ? { 'idempotency-key': key } : {}
  return post<Answered>(`${url}/v1/orders`, { ...anOrder, total }, headers)
}
