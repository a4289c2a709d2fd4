import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
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
import { extentsOf, withAdmin } from '@orderflow/kafka-log'
import type { Order } from '@orderflow/order-service/order'
import { type Disk, mountDisk, unmountBelow } from '@orderflow/service-kit/testing'
import {
  databaseFile,
  freePorts,
  type LocalStack,
  type StackPorts,
  startStack,
  storedServices,
  urlOf,
} from '@orderflow/stack'
import { eventually, testFolder } from '@orderflow/stack/base'
import { claimFolder, processState, releaseFolder } from '@orderflow/stack/internals'
import { expect } from 'chai'

type Answer = Pick<Order, 'id'> & Pick<ProblemBody, 'detail' | 'orderId'>

/** These tests need the right to mount a tmpfs. */
describe('a system on a full disk', () => {
  const folder = testFolder('full-disk')
  let ports: StackPorts
  let disks: { kafka: Disk; state: Disk; logs: Disk }
  let stack: LocalStack

  before(async () => {
    await claimFolder(folder)
    disks = {
      kafka: await mountDisk(join(folder, 'data')),
      state: await mountDisk(join(folder, 'state')),
      logs: await mountDisk(join(folder, 'logs')),
    }
    // Links put the databases on a separate disk. SQLite follows these links.
    for (const service of storedServices) {
      symlinkSync(join(disks.state.path, `${service.role}.db`), databaseFile(folder, service))
    }
    ports = await freePorts()
    await up()
  })
  after(async () => {
    await stack?.stop()
    unmountBelow(folder)
    await releaseFolder(folder)
  })

  afterEach(() => Promise.all(Object.values(disks).map((disk) => disk.relieve())))

  async function up(): Promise<void> {
    stack = await startStack({ folder, ports })
  }

  const place = (key?: string) =>
    post<Answer>(`${orderUrl(stack)}/v1/orders`, anOrder, key === undefined ? {} : { 'idempotency-key': key })

  /** Places orders until one is refused. The first orders may succeed, because a full disk still accepts a few pages in existing files. */
  async function untilRefused() {
    const accepted: string[] = []
    return await eventually(async () => {
      const key = crypto.randomUUID()
      const refused = await place(key)
      if (refused.status === 503) return { key, refused, accepted }
      accepted.push(refused.body.id)
      return undefined
    }, 'an order to be refused')
  }

  async function expectPaidOnce(...ids: string[]): Promise<void> {
    for (const id of ids) await orderWith(orderUrl(stack), id, 'Paid')
    const payments = await Promise.all(ids.map((id) => paymentsOf(paymentUrl(stack), id)))
    expect(payments.map(({ length }) => length)).to.deep.equal(ids.map(() => 1))
  }

  async function expectNoDeadLetters(): Promise<void> {
    const extents = await withAdmin(stack.kafka, async (admin) => {
      const names = (await admin.listTopics()).filter((name) => name.endsWith('.dead'))
      return await extentsOf(admin, names)
    })
    expect(extents.length).to.be.above(0)
    expect(extents.filter(({ end }) => Number(end) > 0)).to.deep.equal([])
  }

  it('handles orders although services and servers cannot write their logs', async () => {
    await disks.logs.fill()
    const placed = await Promise.all(Array.from({ length: 20 }, () => place()))
    expect(placed.map(({ status }) => status)).to.deep.equal(placed.map(() => 201))
    await expectPaidOnce(...placed.map(({ body }) => body.id))
    await disks.logs.relieve()
  })

  it('rejects new data while the store’s disk is full, answers reads, and completes all orders afterwards', async () => {
    const before = (await place()).body.id
    await expectPaidOnce(before)
    await disks.state.fill()
    const { key, refused, accepted } = await untilRefused()
    expect(refused.body.detail).to.contain('The disk of the state store is full')
    const queued = await Promise.all(Array.from({ length: 10 }, () => place()))
    expect(queued.map(({ status }) => status)).to.deep.equal(queued.map(() => 202))
    expect((await send(`${orderUrl(stack)}/v1/orders/${before}`)).status).to.equal(200)
    await disks.state.relieve()
    const retried = await eventually(async () => {
      const answer = await place(key)
      return answer.status === 201 ? answer : undefined
    }, 'the retry to be accepted')
    await expectPaidOnce(retried.body.id, ...accepted, ...queued.map(({ body }) => body.id))
    await expectNoDeadLetters()
  })

  it('stops Kafka when Kafka’s disk is full, names this disk in the output of `make up`, and continues when there is space again', async () => {
    await disks.kafka.fill()
    const { key, refused, accepted } = await untilRefused()
    expect(refused.body.detail).to.contain('It is not known whether')
    await eventually(() => processState(folder, 'kafka').state === 'crashed' || undefined, 'Kafka to end')
    expect((await send(`${orderUrl(stack)}/readyz`)).status).to.equal(503)
    const failure = await startStack({ folder, ports }).catch((error: unknown) => error)
    expect(failure).to.include({ code: 'disk-full' })
    expect((failure as Error).message).to.contain(join(folder, 'data'))
    await disks.kafka.relieve()
    await up()
    const retried = await place(key)
    expect(retried).to.deep.include({ status: 201 }).and.have.nested.property('body.id', refused.body.orderId)
    await expectPaidOnce(retried.body.id, ...accepted)
    await expectNoDeadLetters()
    const health = await send<{ index: { error: string | null } }>(`${urlOf(stack, 'event-monitor')}/v1/health`)
    expect(health.body.index.error).to.equal(null)
  })
})
