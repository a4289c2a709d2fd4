import { deterministicId, noTenant, orderEvents } from '@orderflow/envelope-schema'
import type { LogRecord } from '@orderflow/kafka-log'
import { service as orderService } from '@orderflow/order-service/service'
import { paymentIdOf } from '@orderflow/payment-service/payment'
import { service as paymentService } from '@orderflow/payment-service/service'
import { isInfrastructure, Refused, readSettings, UncertainError } from '@orderflow/service-kit'
import fc from 'fast-check'
import type { Failure } from '../support/memory/failures.ts'
import { guid, type Replica, type Role, World } from '../support/memory/world.ts'

export const roles = ['order', 'payment'] as const
const tokens = { APP_API_TOKEN: 'a', DAPR_API_TOKEN: 'd' }
export const ownIds = [readSettings(orderService, tokens), readSettings(paymentService, tokens)].map(
  ({ App }) => App.Id,
)
const outsideOrders = ['one', 'two'] as const
const keyOrder = deterministicId('order', ownIds[0] as string, 'key')
export const orderIds = [...outsideOrders.map(guid), keyOrder]
const dates = [
  '2026-11-21T10:00:00Z',
  '2026-11-21T11:00:00+02:00',
  '2026-11-21T11:00:00.0000004+02:00',
  '2026-11-21T09:00:00.0000003Z',
  '2026-11-21T12:00:00.5Z',
]

/** Generates repeated, contradicting and cancelled orders, in full and reduced envelopes. */
const anyEvent = fc.record({
  name: fc.constantFrom('OrderCreated' as const, 'OrderCreated' as const, 'OrderCancelled' as const),
  order: fc.constantFrom(...outsideOrders),
  id: fc.option(fc.constantFrom('a', 'b')),
  date: fc.constantFrom(...dates),
  total: fc.oneof({ weight: 6, arbitrary: fc.constant(10) }, { weight: 1, arbitrary: fc.constantFrom(11, 20_000) }),
  partition: fc.nat(2),
})

export type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never

function publish(world: World, { name, order, id, date, total, partition }: Generated<typeof anyEvent>): void {
  const OrderId = guid(order)
  const created = { OrderId, CustomerName: 'Ada', CustomerTaxId: 'T', Total: total }
  const envelope = {
    ...(id !== null && { Id: guid(id), CorrelationId: guid('c'), TraceId: guid('t') }),
    ...{ AppId: guid('app'), AppName: 'older-application', Version: 1, Name: name, CreationDate: date },
    Payload: name === 'OrderCreated' ? created : { OrderId },
  }
  world.log.append({ topic: orderEvents, partition, key: OrderId, value: JSON.stringify(envelope) })
}

/** Generates the failure of one of the first calls of a turn. */
const anyFailure = fc.option(
  fc.record<Failure>({
    kind: fc.constantFrom(
      ...(['read', 'write', 'publish', 'write-half', 'write-late', 'write-after'] as const),
      ...(['publish-after', 'publish-half'] as const),
    ),
    skipped: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.nat(3)),
    isFatal: fc.boolean(),
  }),
  { nil: undefined, freq: 3 },
)
/** Generates a delivery of events in any sequence, new or repeated. Services must not depend on the sequence that Kafka guarantees. */
const anyDelivery = fc.record({
  replica: fc.nat(1),
  subscription: fc.nat(2),
  picks: fc.array(fc.nat(), { minLength: 1, maxLength: 5 }),
})
/** Generates a request. The id of order `three` derives from the Idempotency-Key, so no event of an outside publisher contains this id. */
const anyRequest = fc.record({
  replica: fc.nat(1),
  request: fc.constantFrom('place' as const, 'cancel' as const, 'pay' as const, 'pay with a key' as const),
  order: fc.constantFrom('one' as const, 'three' as const),
})
const anySweep = fc.record({ replica: fc.nat(1), sweep: fc.constantFrom(...roles) })
const anyStep = fc.oneof(
  { weight: 6, arbitrary: anyDelivery },
  { weight: 2, arbitrary: anyRequest },
  { weight: 1, arbitrary: anySweep },
)
const anyTurn = fc.record({
  /** The time that passes before the turn. After 20 s, another process takes a register. A write is never later than 60 s (announcing.ts). */
  seconds: fc.constantFrom(0, 0, 1, 6, 25),
  steps: fc.array(anyStep, { minLength: 1, maxLength: 2 }),
  failure: anyFailure,
})
export const anyRun = fc.record({
  store: fc.constantFrom('state.sqlite', 'state.postgresql'),
  events: fc.array(anyEvent, { maxLength: 8 }),
  turns: fc.array(anyTurn, { maxLength: 10 }),
  /** The way in which the events of failed and killed requests are announced. Redelivery announces the others. */
  healing: fc.constantFrom('repeated requests' as const, 'repeated requests elsewhere' as const, 'sweeps' as const),
})

function answer(world: World, { replica, request, order }: Generated<typeof anyRequest>): Promise<unknown> {
  const { order: orders, payment: payments } = world.replicas[replica] as Replica
  const id = order === 'three' ? keyOrder : guid(order)
  const body = { customerName: 'Ada', customerTaxId: 'T', total: 10 }
  const pay = (idempotencyKey?: string) =>
    payments.entity.do.make(paymentIdOf(id), { orderId: id, amount: 10 }, { idempotencyKey, tenant: noTenant })
  switch (request) {
    case 'place':
      return orders.entity.do.place(undefined, body, { idempotencyKey: 'key', tenant: noTenant })
    case 'cancel':
      return orders.entity.do.cancel(id, undefined, { tenant: noTenant })
    case 'pay':
      return pay()
    case 'pay with a key':
      return pay('key')
  }
}

async function send(world: World, request: Generated<typeof anyRequest>): Promise<void> {
  const replica = world.replicas[request.replica] as Replica
  const { killed } = request.request.startsWith('pay') ? replica.payment : replica.order
  await Promise.race([answer(world, request), killed]).catch((error: unknown) => {
    if (!(error instanceof Refused) && !(error instanceof UncertainError) && !isInfrastructure(error)) throw error
  })
}

export async function run({ store, events, turns, healing }: Generated<typeof anyRun>): Promise<World> {
  const world = new World(store)
  for (const event of events) publish(world, event)
  const handled = new Set<string>()
  const name = (role: Role, { topic, partition, offset }: LogRecord) => `${role} ${topic}/${partition}/${offset}`
  const deliver = async (role: Role, topic: string, records: LogRecord[], replica?: Replica) => {
    for (const record of await world.deliver(role, topic, records, replica)) handled.add(name(role, record))
  }
  const recordsOf = (topic: string) => world.log.records.filter((record) => record.topic === topic)
  const take = (step: Generated<typeof anyTurn>['steps'][number]) => {
    if ('request' in step) return send(world, step)
    const replica = world.replicas[step.replica] as Replica
    if ('sweep' in step) return world.sweep(step.sweep, replica)
    const [role, topic] = world.subscriptions[step.subscription] ?? (['order', orderEvents] as const)
    const records = recordsOf(topic)
    const picked = step.picks.flatMap((pick) => records[pick % records.length] ?? [])
    return deliver(role, topic, [...new Set(picked)], replica)
  }
  for (const { seconds, steps, failure } of turns) {
    world.passTime(seconds * 1_000)
    await world.failures.during(failure, () => Promise.all(steps.map(take)))
    await world.failures.writeLate()
  }
  if (healing === 'sweeps') await world.sweepAll()
  else {
    // A client repeats its request until it gets an answer (docs/adr/0057).
    for (const step of turns.flatMap(({ steps }) => steps)) {
      if (!('request' in step)) continue
      await send(world, { ...step, replica: healing === 'repeated requests' ? step.replica : 1 - step.replica })
    }
    await world.failures.writeLate()
  }
  for (let left = 1; left > 0; ) {
    left = 0
    for (const [role, topic] of world.subscriptions) {
      const due = recordsOf(topic).filter((record) => !handled.has(name(role, record)))
      left += due.length
      // Each partition is read by only one replica.
      await Promise.all(
        world.replicas.map((replica, index) =>
          deliver(
            role,
            topic,
            due.filter(({ partition }) => partition % 2 === index),
            replica,
          ),
        ),
      )
    }
  }
  return world
}
