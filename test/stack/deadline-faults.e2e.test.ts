import { setTimeout as delay } from 'node:timers/promises'
import { anOrder, orderUrl, post, send } from '@orderflow/chaos/clients/api'
import type { FullEvent } from '@orderflow/envelope-schema'
import { withAdmin } from '@orderflow/kafka-log'
import type { Order } from '@orderflow/order-service/order'
import { freePorts, type LocalStack, startStack, urlOf } from '@orderflow/stack'
import { eventually, testFolder } from '@orderflow/stack/base'
import { openLog } from '@orderflow/test-kit'
import { operatorOf } from '@orderflow/test-kit/stacks'
import { IncrementalAlterConfigOperationTypes } from '@platformatic/kafka'
import { expect } from 'chai'

const setting = 'Orders__PaymentWithin'
/** The time in which an order must be paid, in minutes, and the one of a later release. */
const [longer, shorter] = ['30', '0.2']
const topics = ['orderevents', 'paymentevents', 'deadlines']

describe('order-service with PostgreSQL and unpaid orders', () => {
  let stack: LocalStack
  let log: Awaited<ReturnType<typeof openLog>>
  let operate: ReturnType<typeof operatorOf>
  before(async () => {
    process.env[setting] = longer
    const ports = await freePorts()
    const servers = { store: 'postgresql', brokers: 1 } as const
    stack = await startStack({ folder: testFolder('deadline-faults'), ports, servers, detached: false })
    operate = operatorOf(stack, ports)
    log = await openLog(stack.kafka, topics)
    for (const name of ['payment-service', 'payment-sidecar']) await stack.kill(name)
  })
  after(async () => {
    delete process.env[setting]
    await log?.close()
    await stack?.stop()
  })

  type Event = FullEvent & { Payload: { OrderId?: string; EntityId?: string; Deadline?: string } }
  const place = async () => (await post<Order>(`${orderUrl(stack)}/v1/orders`, anOrder)).body
  const placeAll = (count: number) => Promise.all(Array.from({ length: count }, place))
  /** The names of each order's events, by Id, because a killed process may announce an event again. The name of a deadline follows its event. */
  const names = new Map<string, Map<string, string>>()
  let known = 0
  const namesOf = ({ id }: Order): string[] => {
    for (const { value } of log.records.slice(known)) {
      const { Id, Name, Payload } = JSON.parse(value.toString()) as Event
      const order = Payload.OrderId ?? Payload.EntityId ?? ''
      names.set(order, (names.get(order) ?? new Map()).set(Id, [Name, Payload.Deadline].filter(Boolean).join(' ')))
    }
    known = log.records.length
    return [...(names.get(id)?.values() ?? [])]
  }
  const isDue = (order: Order) => namesOf(order).includes('DeadlinePassed PaymentDue')
  const isReminded = (order: Order) => namesOf(order).includes('OrderReminded')
  const isExpired = (order: Order) => namesOf(order).includes('OrderExpired')
  const untilAll = (orders: Order[], holds: (order: Order) => boolean, what: string) =>
    eventually(() => orders.every(holds) || undefined, what)
  const whole = [
    'DeadlinePassed PaymentDue',
    'DeadlinePassed Reminder',
    'OrderCreated',
    'OrderExpired',
    'OrderReminded',
  ]
  async function expireOnce(orders: Order[]): Promise<void> {
    await untilAll(orders, isExpired, 'the orders to expire')
    await delay(3_000)
    await log.caughtUp()
    for (const order of orders) expect(namesOf(order).toSorted()).to.deep.equal(whole)
  }
  /** Places orders, waits for their reminders, and lets their time to pay end during an outage. */
  async function whileDue(begin: () => Promise<void>, end: () => Promise<void>): Promise<Order[]> {
    const orders = await placeAll(20)
    await untilAll(orders, isReminded, 'the reminders')
    await begin()
    const last = Math.max(...orders.map(({ payableUntil }) => Date.parse(payableUntil ?? '')))
    await delay(last - Date.now() + 3_000)
    expect(orders.filter(isDue)).to.deep.equal([])
    await end()
    return orders
  }
  async function shorten(): Promise<void> {
    if (stack.plan.variables[setting] === shorter) return
    stack.plan.variables[setting] = shorter
    await stack.restart('order-service')
  }
  const ready = () => send<{ status: string; warnings?: string[] }>(`${orderUrl(stack)}/readyz`)

  const keep = (ms: string) =>
    withAdmin(stack.kafka, (admin) =>
      admin.incrementalAlterConfigs({
        resources: [
          {
            ...{ resourceType: 2, resourceName: 'orderevents' },
            configs: [{ name: 'retention.ms', configOperation: IncrementalAlterConfigOperationTypes.SET, value: ms }],
          },
        ],
      }),
    )

  it('warns at readiness and in the monitor while Kafka would delete events before a deadline, and stays ready', async () => {
    await place()
    await keep(String(25 * 60_000))
    const [warning] = await eventually(async () => (await ready()).body.warnings, 'the warning', 90_000)
    expect(warning).to.match(/^topic orderevents keeps events for 0\.0174 days, but has a deadline in 1 days/)
    expect((await ready()).body.status).to.equal('ready')
    const { body } = await send<{ services: { name: string; warnings: string[] }[] }>(
      `${urlOf(stack, 'event-monitor')}/v1/health`,
    )
    expect(body.services.find(({ name }) => name === 'order-service')?.warnings).to.deep.equal([warning])
    await keep('-1')
  })

  it('gives orders the time to pay of a later release by the command `deadlines`, which decides nothing and can be repeated', async () => {
    const orders = await placeAll(3)
    const unchanged = await operate('order-service', ['deadlines'], { [setting]: longer })
    expect(unchanged).to.include({ code: 0 })
    expect(unchanged.stdout).to.match(/^orderevents: 4 read: 0 with new deadlines, 4 unchanged/m)
    await shorten()
    await delay(5_000)
    await log.caughtUp()
    for (const order of orders) expect(namesOf(order)).to.deep.equal(['OrderCreated'])
    const changed = await operate('order-service', ['deadlines'], { [setting]: shorter })
    expect(changed.stdout).to.match(/^orderevents: 4 read: 4 with new deadlines, 0 unchanged/m)
    await expireOnce(orders)
    const repeated = await operate('order-service', ['deadlines'], { [setting]: shorter })
    expect(repeated.stdout)
      .to.match(/: 0 with new deadlines/)
      .and.not.to.match(/: [1-9]\d* with new deadlines/)
    for (const order of orders) expect(namesOf(order).toSorted()).to.deep.equal(whole)
  })

  describe('at the end of the time to pay', () => {
    before(shorten)

    it('decides once about deadlines that were announced before it was killed', async () => {
      // So many deadlines pass in several steps. Those of the last step are not decided yet.
      const orders = await placeAll(600)
      await untilAll(orders.slice(0, 1), isReminded, 'the reminders')
      while (!orders.some(isDue)) await delay(1)
      await stack.kill('order-service')
      await log.caughtUp()
      expect(orders.filter((order) => isDue(order) && !isExpired(order))).to.have.length.above(0)
      await stack.restart('order-service')
      await expireOnce(orders)
    })

    it('lets deadlines pass once after the store was stopped at their time', async () => {
      const orders = await whileDue(
        () => stack.kill('postgresql'),
        () => stack.restart('postgresql'),
      )
      await expireOnce(orders)
    })

    it('lets deadlines pass once after Kafka was stopped at their time', async () => {
      const orders = await whileDue(
        async () => {
          await log.close()
          await stack.kill('kafka')
        },
        async () => {
          await stack.restart('kafka')
          log = await openLog(stack.kafka, topics)
          known = 0
        },
      )
      await expireOnce(orders)
    })
  })
})
