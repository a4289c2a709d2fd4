import { noTenant, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import type { LogRecord } from '@orderflow/kafka-log'
import type { Order, OrderFacts } from '@orderflow/order-service/order'
import { type Payments, paymentIdOf } from '@orderflow/payment-service/payment'
import { FakeLog, type FakeSidecar } from '@orderflow/service-kit/testing'
import { expect } from 'chai'
import fc from 'fast-check'
import { documentsIn, listedIds, type World } from '../support/memory/world.ts'
import { anyRun, orderIds, ownIds, roles, run } from './any-run.ts'

/** Returns a time in nanoseconds since 1970, which is more precise than a Date. */
function instantOf(date: string): bigint {
  const [, fraction = ''] = /\.(\d+)/.exec(date) ?? []
  return BigInt(Date.parse(date.replace(/\.\d+/, ''))) * 1_000_000n + BigInt(fraction.padEnd(9, '0'))
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
