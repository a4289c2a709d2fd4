import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  anOrder,
  orderUrl,
  orderWith,
  type ProblemBody,
  paymentsOf,
  paymentUrl,
  post,
  send,
} from '@orderflow/chaos/clients/api'
import { reduced } from '@orderflow/chaos/clients/envelopes'
import type { Order } from '@orderflow/order-service/order'
import { freePorts, type LocalStack, type StackPorts } from '@orderflow/stack'
import { eventually, testFolder } from '@orderflow/stack/base'
import { createProducer, type Documents, type Operator, openLog } from '@orderflow/test-kit'
import { localOperator, type Operate, operatorOf } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { type Role, roles } from '../specs/operations/rebuild.ts'
import { copyRepository, type RepositoryCopy } from '../support/checkouts/repository-copy.ts'
import { addVersion2, adoptVersion2 } from './versions/release.ts'

const version1 = (Total: number, OrderId = randomUUID()) => reduced({ OrderId, Total })
const note = 'Leave it at the door.'
const version2 = (Total: number, OrderId = randomUUID()) => reduced({ OrderId, Total, Note: note }, { Version: 2 })
type Created = ReturnType<typeof reduced>
const idOf = ({ Payload }: Created) => Payload.OrderId

/** Follows the steps of envelope-schema/README.md on a running stack. */
describe('a second version of OrderCreated', () => {
  let copy: RepositoryCopy
  let ports: StackPorts
  let stack: LocalStack
  let operate: Operate
  let operator: Operator
  let producer: ReturnType<typeof createProducer>
  let log: Awaited<ReturnType<typeof openLog>>
  before(async () => {
    copy = copyRepository()
    const { startStack } = await copy.load<typeof import('@orderflow/stack')>('packages/stack/src/index.ts')
    ports = await freePorts()
    stack = await startStack({ folder: testFolder('versions'), ports, detached: false })
    operate = operatorOf(stack, ports, copy.folder)
    operator = localOperator(stack, ports.postgresql, operate)
    producer = createProducer(stack.kafka)
    log = await openLog(stack.kafka, ['orderevents', 'orderevents.dead'])
  })
  after(async () => {
    await Promise.all([producer?.close(), log?.close()])
    await stack?.stop()
    copy?.remove()
  })

  const orders: string[] = []
  const early = [version2(31), version2(32)] as const
  const key = randomUUID()
  let first: Order

  const placeUrl = () => `${orderUrl(stack)}/v1/orders`
  async function place(total: number, headers = {}, more: object = {}): Promise<Order & { note?: string }> {
    const { status, body } = await post<Order & { note?: string }>(placeUrl(), { ...anOrder, total, ...more }, headers)
    expect(status).to.equal(201)
    orders.push(body.id)
    return body
  }
  /** Publishes as an outside publisher, always to the same partition. */
  async function publish(...events: Created[]): Promise<void> {
    await producer.send(...events.map((event) => ({ topic: 'orderevents', key: 'k', value: JSON.stringify(event) })))
  }
  async function publishOrders(...events: Created[]): Promise<void> {
    await publish(...events)
    orders.push(...events.map(idOf))
  }

  async function allArePaid(): Promise<void> {
    await Promise.all([...new Set(orders)].map(isPaid))
  }
  async function isPaid(id: string): Promise<void> {
    const order = await orderWith(orderUrl(stack), id, 'Paid')
    const payments = await paymentsOf(paymentUrl(stack), id)
    expect(payments.map(({ amount, status }) => ({ amount, status }))).to.deep.equal([
      { amount: order.total, status: 'Approved' },
    ])
    expect(order).not.to.have.property('warning')
  }

  const records = (topic: string) =>
    log.records
      .filter((record) => record.topic === topic)
      .map(({ headers, value }) => ({ headers, event: JSON.parse(value.toString() || '{}') }))
  const deadLettersOf = (id: string) =>
    records('orderevents.dead')
      .filter(({ event, headers }) => event.Payload?.OrderId === id && headers['deadletter-app'])
      .map(({ headers }) => `${headers['deadletter-app']}: ${headers['deadletter-reason']}`)
      .toSorted()
  const deadLetters = (id: string, count = 2) =>
    eventually(() => (deadLettersOf(id).length >= count ? deadLettersOf(id) : undefined), `dead letters of ${id}`)
  const versionsOf = (id: string) =>
    records('orderevents').flatMap(({ event }) => (event.Payload?.OrderId === id ? [event.Version] : []))
  const published = (id: string) => eventually(() => (versionsOf(id).length > 0 ? versionsOf(id) : undefined), id)

  async function isPutAside(event: Created): Promise<void> {
    const id = idOf(event)
    const after = version1(5)
    await publish(event)
    await publishOrders(after)
    expect(await deadLetters(id)).to.deep.equal(['order-service: unknown-version', 'payment-service: unknown-version'])
    const details = records('orderevents.dead').flatMap(({ event, headers }) =>
      event.Payload.OrderId === id ? [headers['deadletter-detail']] : [],
    )
    for (const detail of details) expect(detail).to.contain('handled versions of OrderCreated: 1')
    await place(6)
    await allArePaid()
    expect((await send(`${placeUrl()}/${id}`)).status).to.equal(404)
    expect(await paymentsOf(paymentUrl(stack), id)).to.deep.equal([])
    const documents = { order: await operator.documents('order'), payment: await operator.documents('payment') }
    expect(JSON.stringify(documents)).not.to.contain(id)
  }
  const replay = () => operate('order-service', ['dead-letters', 'replay', 'all'])

  it('orders of version 1 from order-service and from an outside publisher are paid before the release', async () => {
    first = await place(1, { 'idempotency-key': key })
    await publishOrders(version1(2), version1(3))
    await allArePaid()
    expect(await published(first.id)).to.deep.equal([1])
  })

  it('becomes a dead letter of both services if it is published before the services are released', async () => {
    await isPutAside(early[0])
    const { code, stdout } = await replay()
    expect(code, stdout).to.equal(1)
    expect(stdout).to.contain('0 replayed, 2 refused')
  })

  it('reaches payment-service first in a release, while orders of version 1 are still placed and paid', async () => {
    let isReleasing = true
    const outside = (async () => {
      for (let total = 100; isReleasing; total += 1) {
        await publishOrders(version1(total))
        await delay(100)
      }
    })()
    await addVersion2(copy)
    await stack.kill('payment-service')
    await place(7)
    await stack.restart('payment-service')
    await place(8)
    isReleasing = false
    await outside
    expect(orders.length).to.be.above(10)
    await allArePaid()
  })

  it('results in a payment by the released payment-service and a dead letter of the older order-service', async () => {
    await publish(early[1])
    const id = idOf(early[1])
    const payments = await eventually(async () => {
      const found = await paymentsOf(paymentUrl(stack), id)
      return found.length > 0 ? found : undefined
    }, `payment of ${id}`)
    expect(payments.map(({ amount }) => amount)).to.deep.equal([32])
    expect(await deadLetters(id, 1)).to.deep.equal(['order-service: unknown-version'])
  })

  it('reaches order-service last in a release, and order-service then publishes and shows the new field', async () => {
    adoptVersion2(copy)
    await stack.restart('order-service')
    const placed = await place(10, { 'idempotency-key': randomUUID() }, { note: 'Ring twice.' })
    const plain = await place(11)
    await publishOrders(version1(12), version2(13))
    await allArePaid()
    for (const { id } of [placed, plain]) expect(await published(id)).to.deep.equal([2])
    expect((await send<{ note?: string }>(`${placeUrl()}/${placed.id}`)).body.note).to.equal('Ring twice.')
    const refused = await post<ProblemBody>(placeUrl(), { ...anOrder, note: 5 })
    expect(refused.body.errors?.map(({ pointer }) => pointer)).to.deep.equal(['/note'])
    const again = await post<Order>(placeUrl(), { ...anOrder, total: 1 }, { 'idempotency-key': key })
    expect([again.status, again.body.id]).to.deep.equal([201, first.id])
  })

  it('becomes an order and a payment when the dead letter of an early event is replayed', async () => {
    const { code, stdout } = await replay()
    expect(code, stdout).to.equal(0)
    expect(stdout).to.match(/[1-9]\d* replayed, 0 refused/)
    orders.push(...early.map(idOf))
    await allArePaid()
    for (const event of early)
      expect((await send<{ note?: string }>(`${placeUrl()}/${idOf(event)}`)).body.note).to.equal(note)
  })

  it('becomes a duplicate of an order of version 1 if it has no note, and conflicts with this order if it has a note', async () => {
    const id = randomUUID()
    await publishOrders(version1(14, id), { ...version1(14, id), Version: 2 })
    await allArePaid()
    await publish(version2(14, id))
    expect(await deadLetters(id, 1)).to.deep.equal(['order-service: conflicting-order'])
    await allArePaid()
  })

  it('results in the same documents when the stores are rebuilt from a log with both versions', async () => {
    await log.caughtUp()
    expect(new Set(records('orderevents').map(({ event }) => event.Version))).to.deep.equal(new Set([1, 2]))
    const documents = async (): Promise<Record<Role, Documents>> => ({
      order: await operator.documents('order'),
      payment: await operator.documents('payment'),
    })
    const live = await documents()
    await operator.loseStores()
    expect(await documents()).to.deep.equal({ order: {}, payment: {} })
    for (const role of roles) await operator.rebuild(role)
    expect(withoutVersions(await documents())).to.deep.equal(withoutVersions(live))
    await allArePaid()
  })
})

/** Facts from before the release have an older Version. All other fields are the same. */
const withoutVersions = (documents: unknown) =>
  JSON.parse(JSON.stringify(documents), (key, value) => (key === 'Version' ? undefined : value))
