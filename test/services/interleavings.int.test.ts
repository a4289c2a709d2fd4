import { deterministicId, noTenant, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { Order, OrderFacts } from '@orderflow/order-service/order'
import { service as orderService } from '@orderflow/order-service/service'
import { type Payments, paymentIdOf } from '@orderflow/payment-service/payment'
import { service as paymentService } from '@orderflow/payment-service/service'
import { isInfrastructure, Refused, readSettings, UncertainError } from '@orderflow/service-kit'
import type { LogRecord } from '@orderflow/service-kit/operations'
import { FakeLog, type FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import fc from 'fast-check'
import type { Failure } from '../support/memory/failures.ts'
import { documentsIn, guid, listedIds, type Replica, type Role, World } from '../support/memory/world.ts'

const roles = ['order', 'payment'] as const
const tokens = { APP_API_TOKEN: 'a', DAPR_API_TOKEN: 'd' }
const ownIds = [readSettings(orderService, tokens), readSettings(paymentService, tokens)].map(({ App }) => App.Id)
const outsideOrders = ['one', 'two'] as const
const keyOrder = deterministicId('order', ownIds[0] as string, 'key')
const orderIds = [...outsideOrders.map(guid), keyOrder]
const dates = [
  '2026-11-21T10:00:00Z',
  '2026-11-21T11:00:00+02:00',
  '2026-11-21T11:00:00.0000004+02:00',
  '2026-11-21T09:00:00.0000003Z',
  '2026-11-21T12:00:00.5Z',
]
/** Returns a time in nanoseconds since 1970, which is more precise than a Date. */
function instantOf(date: string): bigint {
  const [, fraction = ''] = /\.(\d+)/.exec(date) ?? []
  return BigInt(Date.parse(date.replace(/\.\d+/, ''))) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
}

/** Generates repeated, contradicting and cancelled orders, in full and reduced envelopes. */
const anyEvent = fc.record({
  name: fc.constantFrom('OrderCreated' as const, 'OrderCreated' as const, 'OrderCancelled' as const),
  order: fc.constantFrom(...outsideOrders),
  id: fc.option(fc.constantFrom('a', 'b')),
  date: fc.constantFrom(...dates),
  total: fc.oneof({ weight: 6, arbitrary: fc.constant(10) }, { weight: 1, arbitrary: fc.constantFrom(11, 20_000) }),
  partition: fc.nat(2),
})

type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never

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
const anyRun = fc.record({
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

async function run({ store, events, turns, healing }: Generated<typeof anyRun>): Promise<World> {
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

const envelopesIn = (world: World, topic: string) =>
  world.log.records.filter((record) => record.topic === topic).map(({ value }) => JSON.parse(value.toString()))

function orderFacts(world: World, id: string): OrderFacts {
  const document = world.stores.order.documents.get(`order/${id}`)
  return (document?.value as { state: OrderFacts } | undefined)?.state ?? {}
}

type PaymentFacts = Awaited<ReturnType<Payments['state']>>

function paymentFacts(world: World, id: string): PaymentFacts {
  const document = world.stores.payment.documents.get(`payment/${paymentIdOf(id)}`)
  return (document?.value as { state: PaymentFacts } | undefined)?.state ?? {}
}

const viewOf = (world: World, id: string): Promise<Order | undefined> =>
  world.replicas[0].order.entity.get(noTenant, id)

/** Returns the documents whose keys match, with their values. */
const documentsLike = ({ documents }: FakeSidecar, pattern: RegExp): Record<string, unknown> =>
  Object.fromEntries([...documents].flatMap(([key, { value }]) => (pattern.test(key) ? [[key, value]] : [])))

/** Returns the claims of Idempotency-Keys. Leaves out the fingerprint of the first request, because the log does not have it. */
const claimsIn = (sidecar: FakeSidecar): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(documentsLike(sidecar, /\/claim$/)).map(([key, value]) => {
      const { request, ...claim } = value as Record<string, unknown>
      return [key, claim]
    }),
  )

/** Returns the claims of the Idempotency-Keys that made a payment. Other requests leave claims, too, but no events. */
function usedClaims(world: World): Record<string, unknown> {
  const decisions = orderIds.flatMap((id) => {
    const { PaymentApproved, PaymentRejected } = paymentFacts(world, id)
    return PaymentApproved ?? PaymentRejected ?? []
  })
  const causes = new Set<unknown>(decisions.map(({ Headers }) => Headers?.CausationId))
  const claims = Object.entries(claimsIn(world.stores.payment))
  return Object.fromEntries(claims.filter(([key]) => causes.has(key.split('/')[1])))
}

/**
 * Returns the log with its partitions interleaved differently. The order within each partition and the times stay the same, because ids
 * derive from them (docs/adr/0032).
 */
function shuffled({ log }: World, random: Iterator<number>): FakeLog {
  const other = new FakeLog()
  other.records.push(...log.records)
  const read = other.read.bind(other)
  other.read = async function* (topic, spans) {
    const parts: LogRecord[][] = []
    for (const span of spans) {
      const part: LogRecord[] = []
      for await (const records of read(topic, [span])) part.push(...records)
      parts.push(part)
    }
    for (let open = parts; open.length > 0; open = open.filter(({ length }) => length > 0)) {
      const next = open[(random.next().value as number) % open.length]?.shift()
      if (next) yield [next]
    }
  }
  return other
}

describe('any interleaving and duplication of events, with failures', () => {
  const property = (check: (world: World, random: Iterator<number>) => Promise<void> | void, numRuns = 150) =>
    fc.assert(
      fc.asyncProperty(anyRun, fc.infiniteStream(fc.nat()), async (plan, random) => check(await run(plan), random)),
      { numRuns },
    )

  it('gives each order exactly the facts of its published events, and the status that follows from these facts', () =>
    property(async (world) => {
      for (const id of orderIds) {
        const facts = orderFacts(world, id)
        const told = [...envelopesIn(world, orderEvents), ...envelopesIn(world, paymentEvents)]
        const own = told.filter(({ Payload }) => Payload.OrderId === id)
        expect(new Set(Object.keys(facts))).to.deep.equal(new Set(own.map(({ Name }) => Name)))
        for (const fact of Object.values(facts)) {
          const same = own.filter(
            ({ Name, Payload }) => Name === fact.Name && Payload.Total === (fact.Payload as { Total?: number }).Total,
          )
          const earlier = same.filter(({ CreationDate }) => instantOf(CreationDate) < instantOf(fact.CreationDate))
          expect(earlier).to.deep.equal([])
        }
        const status = (await viewOf(world, id))?.status
        if (facts.OrderCreated)
          expect(status).to.be.oneOf(facts.OrderCancelled ? ['Cancelled', 'Refunded'] : ['Paid', 'PaymentRejected'])
      }
      const created = orderIds.filter((id) => orderFacts(world, id).OrderCreated)
      expect(listedIds(world.stores.order).toSorted()).to.deep.equal(created.toSorted())
    }))

  it('charges an order once, and never a cancelled one', () =>
    property((world) => {
      for (const id of orderIds) {
        const { PaymentApproved, PaymentRejected, PaymentRefunded: refund, OrderCancelled } = paymentFacts(world, id)
        const [decision, cancelled] = [PaymentApproved ?? PaymentRejected, OrderCancelled !== undefined]
        const facts = orderFacts(world, id)
        if (facts.OrderCreated) expect(decision).not.to.equal(undefined)
        else if (decision) expect(decision.Payload.Source).to.equal('Manual')
        expect(cancelled).to.equal(facts.OrderCancelled !== undefined)
        expect(refund !== undefined).to.equal(PaymentApproved !== undefined && cancelled)
        const announced = world.log.records.filter(
          ({ topic, key }) => topic === paymentEvents && key?.toString() === id,
        )
        const distinct = new Set(announced.map(({ value }) => value.toString()))
        expect(distinct.size).to.equal((decision ? 1 : 0) + (refund ? 1 : 0))
      }
    }))

  it('makes one dead-letter entry for each event that contradicts the first order', () =>
    property((world) => {
      for (const id of orderIds) {
        const { OrderCreated } = orderFacts(world, id)
        const own = world.log.records.filter(({ topic, value }) => topic === orderEvents && value.includes(id))
        const contradicting = own.filter(({ value }) => {
          const { Name, Payload } = JSON.parse(value.toString())
          return Name === 'OrderCreated' && Payload.Total !== OrderCreated?.Payload.Total
        })
        const deadLetters = world.log.records.filter(({ topic, value, headers }) => {
          const app = headers.find(([name]) => name.toString() === 'deadletter-app')?.[1].toString()
          return topic === `${orderEvents}.dead` && app === 'order-service' && value.includes(id)
        })
        const ids = new Set(
          deadLetters.map(({ headers }) =>
            headers.find(([name]) => name.toString() === 'deadletter-id')?.[1].toString(),
          ),
        )
        expect(ids.size).to.equal(contradicting.length)
      }
    }))

  it('leaves a log from which a rebuild restores each service exactly, in any order of reading', () =>
    property(async (world, random) => {
      for (const log of [world.log, shuffled(world, random)]) {
        for (const role of ['order', 'payment'] as const) {
          const rebuilt = await world.rebuild(role, log)
          expect(documentsIn(rebuilt), role).to.deep.equal(documentsIn(world.stores[role]))
          expect(rebuilt.published, role).to.deep.equal([])
          expect(documentsLike(rebuilt, /^announcing\//), role).to.deep.equal({})
          expect(claimsIn(rebuilt), role).to.deep.equal(role === 'order' ? {} : usedClaims(world))
        }
      }
    }))
  it('announces each own event with one content, and nothing more when all is announced', () =>
    property(async (world) => {
      const announced = () => {
        const own = world.log.records.filter(({ topic }) => !topic.endsWith('.dead'))
        const events = own.map(({ value }) => [JSON.parse(value.toString()), value.toString()] as const)
        return new Set(events.flatMap(([{ AppId, Id }, text]) => (ownIds.includes(AppId) ? [`${Id} ${text}`] : [])))
      }
      const before = announced()
      expect(new Set([...before].map((event) => event.split(' ', 1)[0])).size).to.equal(before.size)
      await world.sweepAll()
      expect(announced()).to.deep.equal(before)
      const count = world.log.records.length
      await world.sweepAll()
      expect(world.log.records).to.have.length(count)
      for (const role of roles) {
        const registers = Object.values(documentsLike(world.stores[role], /^announcing\//))
        expect(registers.flatMap((register) => (register as { keys: string[] }).keys)).to.deep.equal([])
      }
    }))
})
