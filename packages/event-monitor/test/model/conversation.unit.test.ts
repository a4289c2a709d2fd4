import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { causalOrder } from '../../src/model/conversation.ts'
import { full, indexRecord, orderCreated, type TestIndex, testIndex } from '../support/records.ts'

const consumed = { 'order-service': ['orderevents', 'paymentevents'], 'payment-service': ['orderevents'] }
/** @param positions next offsets of consumer groups, by service and partition */
const rolesAt = (positions: Record<string, Record<string, string>>) =>
  Object.entries(consumed).map(([name, consumes]) => ({
    name,
    consumes,
    positions: new Map(Object.entries(positions[name] ?? {})),
  }))
const roles = rolesAt({})
const start = Date.UTC(2026, 0, 1)

describe('a conversation', () => {
  let index: TestIndex
  beforeEach(() => {
    index = testIndex()
  })
  afterEach(() => index.close())

  const correlation = randomUUID()
  const order = full('OrderCreated', orderCreated().Payload as Record<string, unknown>, {
    CorrelationId: correlation,
    AppName: 'order-service',
  })
  const payment = (over: Record<string, unknown> = {}) => ({
    ...full('PaymentApproved', {}, { CorrelationId: correlation, AppName: 'payment-service' }),
    Headers: { CausationId: order.Id },
    ...over,
  })
  const steps = () => index.reads.conversation(correlation, roles).steps

  it('lists effects after their causes even if clocks are wrong, and reports the skew', () => {
    index.add(indexRecord(payment(), { topic: 'paymentevents', at: start }), indexRecord(order, { at: start + 50 }))
    const all = steps()
    expect(all.map(({ kind, row }) => [kind, row.name])).to.deep.equal([
      ['request', 'OrderCreated'],
      ['event', 'OrderCreated'],
      ['event', 'PaymentApproved'],
    ])
    expect(all[2]).to.deep.include({
      cause: 1,
      depth: 1,
      skew: { ms: 50, by: 'broker' },
      from: 'service:payment-service',
      to: 'topic:paymentevents',
    })
    expect(all[1]?.consumers).to.deep.include({ column: 'service:payment-service', handled: null, reaction: [2] })
  })

  it('reports the skew of a publisher’s clock', () => {
    index.add(
      indexRecord(order),
      indexRecord(payment({ CreationDate: '2025-12-31T23:59:58Z' }), { topic: 'paymentevents', at: start + 5 }),
    )
    expect(steps()[2]?.skew).to.deep.equal({ ms: 2_000, by: 'publisher' })
  })

  it('contains the dead letter of an event, and the event’s edited replay', () => {
    const document = { ...order, AppName: 'older-application' }
    const deadLetter = {
      'deadletter-app': 'payment-service',
      'deadletter-reason': 'invalid-payload',
      'deadletter-topic': 'orderevents',
      'deadletter-partition': '0',
      'deadletter-offset': '0',
    }
    index.add(
      indexRecord(document, { offset: 0, at: start }),
      indexRecord(document, { topic: 'orderevents.dead', offset: 0, at: start + 1, headers: deadLetter }),
      indexRecord(document, { offset: 1, at: start + 2, headers: { 'replayed-from': 'orderevents/0/0' } }),
      indexRecord('', {
        topic: 'orderevents.dead',
        offset: 1,
        at: start + 3,
        headers: { 'replay-of': 'orderevents/0/0', 'replayed-as': 'orderevents/0/1', 'replay-edited': 'true' },
      }),
    )
    const { columns, steps } = index.reads.conversation(correlation, roles)
    expect(steps.map(({ kind, from, to, cause, isEdited }) => [kind, from, to, cause, isEdited])).to.deep.equal([
      ['event', 'app:older-application', 'topic:orderevents', null, false],
      ['dead-letter', 'topic:orderevents', 'dead:orderevents', 0, false],
      ['replay', 'dead:orderevents', 'topic:orderevents', 1, true],
    ])
    expect(steps[0]?.consumers.map(({ column, isRejected = false }) => [column, isRejected])).to.deep.include.members([
      ['service:order-service', false],
      ['service:payment-service', true],
    ])
    expect(columns.map(({ id }) => id)).to.include.members([
      'app:older-application',
      'topic:orderevents',
      'dead:orderevents',
      'service:payment-service',
    ])
  })

  describe('a conversation with steps outside the log', () => {
    const arrowsAt = (positions: Record<string, Record<string, string>>) => {
      const { columns, steps } = index.reads.conversation(correlation, rolesAt(positions))
      return {
        columns: columns.map(({ id }) => id),
        arrows: steps.map(({ kind, from, to, cause }) => [kind, from, to, cause]),
      }
    }
    const deadLetterOf = (offset: number, app: string) => ({
      'deadletter-app': app,
      'deadletter-reason': 'total-too-odd',
      'deadletter-topic': 'orderevents',
      'deadletter-partition': '0',
      'deadletter-offset': String(offset),
    })

    it('begins with the client’s request, and shows handled events in the store of each service', () => {
      index.add(
        indexRecord(order, { at: start, offset: 7 }),
        indexRecord(payment(), { topic: 'paymentevents', at: start + 5, offset: 3 }),
      )
      const reached = { 'orderevents/0': '8', 'paymentevents/0': '3' }
      expect(arrowsAt({ 'order-service': reached, 'payment-service': reached })).to.deep.equal({
        columns: [
          'client',
          'service:order-service',
          'state:order-service',
          'topic:orderevents',
          'topic:paymentevents',
          'service:payment-service',
          'state:payment-service',
        ],
        arrows: [
          ['request', 'client', 'service:order-service', null],
          ['event', 'service:order-service', 'topic:orderevents', null],
          ['handled', 'service:order-service', 'state:order-service', 1],
          ['handled', 'service:payment-service', 'state:payment-service', 1],
          ['event', 'service:payment-service', 'topic:paymentevents', 1],
        ],
      })
    })

    it('shows an event as handled only if the service’s position is known and comes after the event', () => {
      index.add(indexRecord(order, { offset: 7 }))
      const { columns, arrows } = arrowsAt({ 'order-service': { 'orderevents/0': '7', 'orderevents/1': '9' } })
      expect(arrows.map(([kind]) => kind)).to.deep.equal(['request', 'event'])
      expect(columns.filter((id) => id.startsWith('state:'))).to.deep.equal([])
    })

    it('shows an accepted replay in a service’s store, and omits the rejected event', () => {
      const foreign = { ...order, AppName: 'older-application' }
      const all = { 'orderevents/0': '10' }
      index.add(
        indexRecord(foreign, { offset: 0, at: start }),
        indexRecord(foreign, {
          topic: 'orderevents.dead',
          offset: 0,
          at: start + 1,
          headers: deadLetterOf(0, 'payment-service'),
        }),
        indexRecord(foreign, { offset: 1, at: start + 2, headers: { 'replayed-from': 'orderevents/0/0' } }),
      )
      const { columns, arrows } = arrowsAt({ 'order-service': all, 'payment-service': all })
      expect(arrows).to.deep.equal([
        ['event', 'app:older-application', 'topic:orderevents', null],
        ['handled', 'service:order-service', 'state:order-service', 0],
        ['dead-letter', 'topic:orderevents', 'dead:orderevents', 0],
        ['replay', 'dead:orderevents', 'topic:orderevents', 2],
        ['handled', 'service:payment-service', 'state:payment-service', 3],
      ])
      expect(columns).not.to.include('client')
    })

    it('shows no event as handled if an unknown service rejected the event', () => {
      index.add(
        indexRecord(order, { offset: 0 }),
        indexRecord(order, { topic: 'orderevents.dead', offset: 0, headers: deadLetterOf(0, 'no name of ours') }),
      )
      const all = { 'orderevents/0': '10' }
      const kinds = arrowsAt({ 'order-service': all, 'payment-service': all }).arrows.map(([kind]) => kind)
      expect(kinds).not.to.include('handled')
    })

    it('shows a duplicate in a store only once, and a request only before a valid event without a cause', () => {
      const lost = payment({ Headers: { CausationId: randomUUID() } })
      index.add(
        indexRecord(order, { offset: 0 }),
        indexRecord(order, { offset: 1 }),
        indexRecord({ ...order, Id: randomUUID(), Payload: {} }, { offset: 2 }),
        indexRecord(lost, { topic: 'paymentevents', offset: 0 }),
      )
      const all = { 'orderevents/0': '10', 'paymentevents/0': '10' }
      const kinds = arrowsAt({ 'order-service': all, 'payment-service': {} }).arrows.map(([kind]) => kind)
      expect(kinds.filter((kind) => kind === 'handled')).to.have.length(1)
      expect(kinds.filter((kind) => kind === 'request')).to.have.length(1)
    })
  })

  it('draws a passed deadline as caused by time, and one that passed before its time as a request', () => {
    const deadline = (Deadline: string, CreationDate: string, offset: number) =>
      indexRecord(
        full(
          'DeadlinePassed',
          { Entity: 'order', EntityId: randomUUID(), Deadline, Due: '2026-01-01T00:30:00.000Z' },
          { CorrelationId: correlation, AppName: 'order-service', CreationDate },
        ),
        { topic: 'deadlines', at: start + offset, offset },
      )
    index.add(
      deadline('Reminder', '2026-01-01T00:30:00.000Z', 1),
      deadline('PaymentDue', '2026-01-01T00:29:59.999Z', 2),
    )
    const { columns, steps } = index.reads.conversation(correlation, roles)
    expect(steps.map(({ kind, from, to, deadline }) => [kind, from, to, deadline])).to.deep.equal([
      ['time', 'time', 'service:order-service', 'Reminder'],
      ['event', 'service:order-service', 'topic:deadlines', undefined],
      ['request', 'client', 'service:order-service', 'PaymentDue'],
      ['event', 'service:order-service', 'topic:deadlines', undefined],
    ])
    expect(columns.slice(0, 2)).to.deep.equal([
      { id: 'client', kind: 'client', title: 'client' },
      { id: 'time', kind: 'time', title: 'time' },
    ])
  })

  it('marks duplicates and missing causes', () => {
    const lost = payment({ Headers: { CausationId: randomUUID() } })
    index.add(
      indexRecord(order, { offset: 0 }),
      indexRecord(order, { offset: 1 }),
      indexRecord(lost, { topic: 'paymentevents' }),
    )
    const all = steps()
    expect(all.find(({ row }) => row.position.offset === '1')?.duplicateOf).to.equal(1)
    expect(all.find(({ row }) => row.name === 'PaymentApproved')?.missingCause).to.equal(lost.Headers.CausationId)
  })
})

describe('the order of cause and effect', () => {
  interface Thing {
    id: number
    cause: number | undefined
    partition: string
    offset: number
    time: number
  }
  const order = (things: Thing[]) =>
    causalOrder(things, {
      cause: ({ cause }) => (cause === undefined ? undefined : things[cause]),
      partition: ({ partition }) => partition,
      offset: ({ offset }) => offset,
      time: ({ time }) => time,
    })

  it('lists every record once, after its cause and in the order of its partition, even if clocks are wrong', () => {
    const thing = fc.record({
      cause: fc.option(fc.nat(30), { nil: undefined }),
      partition: fc.constantFrom('a', 'b'),
      time: fc.nat(100),
    })
    fc.assert(
      fc.property(fc.array(thing, { maxLength: 30 }), (made) => {
        const things = made.map(
          ({ cause, ...rest }, id): Thing => ({
            ...rest,
            id,
            offset: id,
            cause: cause !== undefined && cause < id ? cause : undefined,
          }),
        )
        const ordered = order(things)
        expect(ordered).to.have.members(things).and.have.length(things.length)
        for (const one of things) {
          if (one.cause !== undefined)
            expect(ordered.indexOf(one)).to.be.above(ordered.indexOf(things[one.cause] as Thing))
        }
        for (const partition of ['a', 'b']) {
          const own = ordered.filter((one) => one.partition === partition).map(({ offset }) => offset)
          expect(own).to.deep.equal(own.toSorted((one, other) => one - other))
        }
      }),
    )
  })

  it('lists everything even if causes form a circle', () => {
    const things = [0, 1, 2].map(
      (id): Thing => ({ id, cause: (id + 1) % 3, partition: String(id), offset: 0, time: id }),
    )
    expect(order(things)).to.have.members(things)
  })
})
