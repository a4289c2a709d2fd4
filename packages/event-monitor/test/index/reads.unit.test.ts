import { randomUUID } from 'node:crypto'
import { positionText } from '@orderflow/kafka-log'
import type { Reaction } from '@orderflow/service-kit/application'
import { UntrustedError } from '@orderflow/service-kit/log'
import { expect } from 'chai'
import {
  application,
  full,
  indexRecord,
  orderCreated,
  positionAfter,
  type RecordOptions,
  type TestIndex,
  testIndex,
} from '../support/records.ts'

const second = 1_000
const start = Date.UTC(2026, 0, 1)
const reactions = application.reactions as [Reaction]
const payment = () => ({ PaymentId: randomUUID(), OrderId: randomUUID(), Amount: 10, Policy: 'a@1', Source: 'Manual' })
const paymentApproved = (OrderId: string) => full('PaymentApproved', { ...payment(), OrderId })

describe('reads of the index', () => {
  let index: TestIndex
  beforeEach(() => {
    index = testIndex({ segmentEvents: 20 })
  })
  afterEach(() => index.close())

  const offsets = (page: { items: { position: { offset: string } }[] }) =>
    page.items.map(({ position }) => Number(position.offset))

  it('returns pages that list each event of all segments once, newest first', () => {
    for (let offset = 0; offset < 70; offset += 7) {
      index.add(...Array.from({ length: 7 }, (_, step) => indexRecord(orderCreated(), { offset: offset + step })))
    }
    const offsetsRead: number[] = []
    for (let cursor: number | undefined; ; ) {
      const page = index.reads.events({}, 9, cursor)
      offsetsRead.push(...offsets(page))
      if (page.next === null) break
      cursor = page.next
    }
    expect(offsetsRead).to.deep.equal(Array.from({ length: 70 }, (_, step) => 69 - step))
  })

  it('finds an event by each of its ids in upper and lower case, and by no other id', () => {
    const [id, correlation, order, cause] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
    const document = full(
      'OrderCreated',
      (orderCreated({}, { OrderId: order }).Payload ?? {}) as Record<string, unknown>,
      {
        Id: id.toUpperCase(),
        CorrelationId: correlation,
        Headers: { CausationId: cause },
      },
    )
    index.add(
      indexRecord(orderCreated(), { offset: 0 }),
      indexRecord(document, { offset: 1 }),
      indexRecord(orderCreated(), { offset: 2 }),
    )
    for (const guid of [id, correlation, order, cause]) {
      expect(offsets(index.reads.events({ guid }, 10, undefined)), guid).to.deep.equal([1])
      expect(offsets(index.reads.events({ q: guid.toUpperCase() }, 10, undefined)), guid).to.deep.equal([1])
    }
    expect(index.reads.events({ guid: randomUUID() }, 10, undefined).items).to.be.empty
    expect(index.reads.positions(id)).to.deep.equal([{ topic: 'orderevents', partition: 0, offset: '1' }])
  })

  it('finds an event by its ids in every usual spelling, even if the event or its key contains another spelling', () => {
    const [id, cause, order, key, hidden] = Array.from({ length: 5 }, () => randomUUID()) as [
      string,
      string,
      string,
      string,
      string,
    ]
    const ids = { Id: `{${id}}`, Headers: { CausationId: `urn:uuid:${cause}` } }
    index.add(
      indexRecord(orderCreated(), { offset: 0 }),
      indexRecord(orderCreated(ids, { OrderId: order.replaceAll('-', ''), Reference: hidden }), {
        offset: 1,
        key: `{${key}}`,
      }),
      indexRecord(orderCreated(), { offset: 2 }),
    )
    for (const guid of [id, cause, order, key]) {
      const hex = guid.replaceAll('-', '')
      for (const q of [guid, hex, hex.toUpperCase(), `{${guid}}`, `urn:uuid:${guid}`, `older-application ${hex}`])
        expect(offsets(index.reads.events({ q }, 10, undefined)), q).to.deep.equal([1])
    }
    // The index stores only values of fields that the contract names.
    expect(offsets(index.reads.events({ q: hidden }, 10, undefined))).to.deep.equal([])
  })

  it('finds an event by its whole record key if no field of the key is personal', () => {
    const keyed = (key: string[], document: Record<string, unknown>, options: RecordOptions) => {
      const topics = application.topics.map((topic) => ({ ...topic, key }))
      return indexRecord(document, options, undefined, { topics })
    }
    const paid = (Policy: string, Amount: number) => full('PaymentApproved', { ...payment(), Policy, Amount })
    const room = (offset: number, key: string) => ({ topic: 'paymentevents', offset, key, at: start })
    index.add(
      keyed(['Policy', 'Amount'], paid('room', 12), room(0, 'room/12')),
      keyed(['Policy', 'Amount'], paid('room', 13), room(1, 'room/13')),
      keyed(['Policy', 'Amount'], paid('blue room', 12), room(2, 'blue room/12')),
      keyed(['Policy', 'Amount'], paid('room', 12), room(3, 'Grace/12')),
      keyed(['Amount', 'CustomerName'], orderCreated({}, { Amount: 7 }), { ...room(4, '7/Grace Hopper') }),
      keyed(['Policy', 'Amount', 'Amount'], paid('a', 5), room(5, 'a/5/5')),
    )
    const found = (q: string, filter = {}) => {
      const page = index.reads.events({ ...filter, q }, 10)
      expect(page.total, q).to.equal(page.items.length)
      expect(index.reads.facets({ ...filter, q }).total, q).to.equal(page.items.length)
      return offsets(page)
    }
    expect(found('room/12')).to.deep.equal([0])
    expect(found('paymentapproved room/12')).to.deep.equal([0])
    expect(found('ordercreated room/12')).to.deep.equal([])
    expect(found('room/12', { partition: 1 })).to.deep.equal([])
    expect(found('blue room/12')).to.deep.equal([2])
    expect(found('a/5/5')).to.deep.equal([5])
    for (const q of ['room', 'room/1', 'Grace/12', '7/Grace Hopper', '*** (14 characters)', '(14'])
      expect(found(q), q).to.deep.equal([])
    const keyOf = (offset: number) =>
      index.reads.event({ topic: 'paymentevents', partition: 0, offset: String(offset) })?.body.key
    expect([0, 2, 3, 4].map(keyOf)).to.deep.equal([
      'room/12',
      'blue room/12',
      '*** (8 characters)',
      '*** (14 characters)',
    ])
  })

  it('filters by properties of events, and counts exactly the listed events', () => {
    index.add(
      indexRecord(orderCreated(), { offset: 0 }),
      indexRecord(orderCreated({ AppName: 'shop' }), { offset: 1 }),
      indexRecord(orderCreated({}, { Total: 'x' }), { offset: 2 }),
      indexRecord(orderCreated({ Name: 'StockCounted' }), { offset: 3, partition: 1 }),
      indexRecord('{"a', { offset: 4 }),
    )
    const cases: [object, number[]][] = [
      [{ name: ['OrderCreated'] }, [2, 1, 0]],
      [{ name: ['OrderCreated@1'], publisher: ['shop'] }, [1]],
      [{ validity: ['invalid-payload', 'not-json'] }, [4, 2]],
      [{ why: ['invalid-payload /Payload/Total'] }, [2]],
      [{ q: 'stock' }, [3]],
      [{ q: 'COUNTED foreign' }, [3]],
      [{ q: 'payload/tot' }, [2]],
      [{ q: 'orderevents/0/1' }, [1]],
      [{ partition: 1 }, [3]],
      [{ topic: ['paymentevents'] }, []],
    ]
    for (const [filter, expected] of cases) {
      const page = index.reads.events(filter, 10, undefined)
      expect(offsets(page), JSON.stringify(filter)).to.deep.equal(expected)
      expect(page.total, JSON.stringify(filter)).to.equal(expected.length)
    }
  })

  it('counts new events of a partition whose counts are cached', () => {
    const totals = () => [
      index.reads.events({ partition: 1 }, 1, undefined).total,
      index.reads.events({ partition: 1, name: ['StockCounted'] }, 1, undefined).total,
      index.reads.events({ partition: 1, to: new Date(start + second).toISOString() }, 1, undefined).total,
    ]
    index.add(indexRecord(orderCreated(), { offset: 0, partition: 1, at: start }))
    expect([totals(), totals()]).to.deep.equal([
      [1, 0, 1],
      [1, 0, 1],
    ])
    index.add(
      indexRecord(orderCreated({ Name: 'StockCounted' }), { offset: 1, partition: 1, at: start + 2 * second }),
      indexRecord(orderCreated(), { offset: 0, partition: 2, at: start }),
    )
    expect(totals()).to.deep.equal([2, 1, 1])
  })

  it('filters events by time ranges, and counts them by time', () => {
    for (let step = 0; step < 60; step += 1)
      index.add(indexRecord(orderCreated(), { offset: step, at: start + step * second }))
    const from = new Date(start + 20 * second).toISOString()
    const to = new Date(start + 30 * second).toISOString()
    expect(offsets(index.reads.events({ from, to }, 100, undefined))).to.deep.equal(
      Array.from({ length: 10 }, (_, step) => 29 - step),
    )
    expect(index.reads.rates({}, start, start + 60 * second, 10 * second)).to.deep.equal({
      from: '2026-01-01T00:00:00.000Z',
      step: 10,
      counts: [10, 10, 10, 10, 10, 10],
      invalid: [0, 0, 0, 0, 0, 0],
    })
  })

  it('returns the cause, effects and neighbours of an event', () => {
    const cause = full('OrderCreated', orderCreated().Payload as Record<string, unknown>)
    const effect = full('Shipped', {}, { Headers: { CausationId: cause.Id }, CorrelationId: cause.CorrelationId })
    index.add(indexRecord(cause, { offset: 0 }), indexRecord(effect, { offset: 1 }))
    const [first, then] = [0, 1].map((offset) =>
      index.reads.event({ topic: 'orderevents', partition: 0, offset: String(offset) }),
    )
    expect(first?.effects.map(({ id }) => id)).to.deep.equal([effect.Id])
    expect(then?.cause?.id).to.equal(cause.Id)
    expect([first?.previous, first?.following?.offset]).to.deep.equal([null, '1'])
  })

  it('finds the missing reaction of an event until the reaction arrives, and finds none if the reaction arrived first', () => {
    const orders = Array.from({ length: 3 }, () => orderCreated())
    const idOf = (position: number) =>
      ((orders[position] as Record<string, unknown>).Payload as { OrderId: string }).OrderId
    const paid = (position: number) => paymentApproved(idOf(position))
    index.add(indexRecord(paid(1), { topic: 'paymentevents', offset: 0, at: start }))
    index.add(...orders.map((order, offset) => indexRecord(order, { offset, at: start + offset })))
    const missing = () =>
      index.reads.missing(start + 10 * second, 0, 10).events.map(({ row }) => Number(row.position.offset))
    expect(missing()).to.deep.equal([0, 2])
    index.add(indexRecord(paid(0), { topic: 'paymentevents', offset: 1, at: start }))
    expect(missing()).to.deep.equal([2])
    expect(index.reads.missing(start, 0, 10).total).to.equal(0)
  })

  it('counts an event and its reaction once if their publishers published them twice', () => {
    const order = orderCreated()
    const { OrderId } = order.Payload as { OrderId: string }
    const paid = paymentApproved(OrderId)
    const at = (topic: string, offset: number) => ({ topic, offset, at: start })
    const missing = () =>
      index.reads.missing(start + 10 * second, 0, 10).events.map(({ row }) => Number(row.position.offset))
    index.add(indexRecord(order, at('orderevents', 0)), indexRecord(order, at('orderevents', 1)))
    expect(missing()).to.deep.equal([0])
    index.add(indexRecord(paid, at('paymentevents', 0)), indexRecord(paid, at('paymentevents', 1)))
    expect(missing()).to.deep.equal([])
    index.add(indexRecord(order, at('orderevents', 2)))
    expect(missing()).to.deep.equal([])
    index.add(indexRecord(full('OrderCreated', { ...(order.Payload as object) }), at('orderevents', 3)))
    expect(missing()).to.deep.equal([3])
  })

  it('uses an event as cause or reaction only if it is valid, trusted and in its own topic', () => {
    const untrusted = {
      requireTrusted() {
        throw new UntrustedError('its publisher may not publish it')
      },
    }
    const [first, other] = [orderCreated(), orderCreated()]
    const paid = ({ Payload }: Record<string, unknown>) => paymentApproved((Payload as { OrderId: string }).OrderId)
    index.add(
      indexRecord(first, { offset: 0, at: start }),
      indexRecord(orderCreated(), { topic: 'paymentevents', offset: 0, at: start }),
      indexRecord(orderCreated({}, { Total: 'x' }), { offset: 1, at: start }),
      indexRecord(orderCreated(), { offset: 2, at: start }, untrusted),
      indexRecord(other, { offset: 3, at: start }),
      // The first reaction is in a wrong topic, and the second reaction is untrusted.
      indexRecord(paid(first), { offset: 4, at: start }),
      indexRecord(paid(other), { topic: 'paymentevents', offset: 1, at: start }, untrusted),
    )
    const { events } = index.reads.missing(start + 10 * second, 0, 10)
    expect(events.map(({ row }) => positionText(row.position))).to.deep.equal(['orderevents/0/0', 'orderevents/0/3'])
  })

  it('lists a reaction whose own expected reaction is missing, and uses the time limit of each reaction', () => {
    const by = 'a-service'
    const chained = testIndex({}, [
      { after: 'OrderCreated', answers: ['PaymentApproved'], by, within: 5, about: 'OrderId' },
      { after: 'PaymentApproved', answers: ['PaymentRefunded'], by, within: 60, about: 'OrderId' },
    ])
    const order = orderCreated()
    const { OrderId } = order.Payload as { OrderId: string }
    const paid = paymentApproved(OrderId)
    const missing = (seconds: number) =>
      chained.reads
        .missing(start + seconds * second, undefined, 10)
        .events.map(({ row, reaction }) => [row.name, reaction.within])
    try {
      chained.add(indexRecord(order, { offset: 0, at: start }))
      expect([missing(5), missing(6)]).to.deep.equal([[], [['OrderCreated', 5]]])
      chained.add(indexRecord(paid, { topic: 'paymentevents', offset: 0, at: start }))
      expect([missing(60), missing(61)]).to.deep.equal([[], [['PaymentApproved', 60]]])
      expect(chained.reads.missing(start + 10 * second, 1, 10).total).to.equal(1)
    } finally {
      chained.close()
    }
  })

  it('reads the log again after a restart if the declared reactions have changed', () => {
    const before = testIndex({}, [])
    const [paid, unpaid] = [orderCreated(), orderCreated()]
    const { OrderId } = paid.Payload as { OrderId: string }
    const records = (other?: { reactions: [] }) => [
      ...[paid, unpaid].map((order, offset) => indexRecord(order, { offset, at: start }, undefined, other)),
      indexRecord(paymentApproved(OrderId), { topic: 'paymentevents', at: start }, undefined, other),
    ]
    const nextOf = () => before.writer.positions().get('orderevents/0')?.next
    try {
      before.add(...records({ reactions: [] }))
      before.reopen([])
      expect(nextOf()).to.equal(2)
      const [reaction] = reactions
      before.reopen([{ ...reaction, within: 1 }])
      expect([nextOf(), before.reads.events({}, 10).total]).to.deep.equal([undefined, 0])
      before.add(...records())
      const { events } = before.reads.missing(start + 10 * second, undefined, 10)
      expect(events.map(({ row }) => row.position.offset)).to.deep.equal(['1'])
      before.reopen([{ ...reaction, within: 2 }])
      expect(nextOf()).to.equal(2)
    } finally {
      before.close()
    }
  })

  it('finds no conversation of a replay note', () => {
    const headers = { 'replay-of': 'orderevents/0/1', 'replayed-as': 'orderevents/0/9' }
    index.add(indexRecord('', { topic: 'orderevents.dead', headers }))
    const [note] = index.reads.events({}, 10, undefined).items
    expect(note?.validity).to.equal('replay-note')
    expect(index.reads.conversationsOf(note?.correlationId ?? '')).to.deep.equal([])
  })

  it('groups dead letters by their fault, and marks replayed dead letters', () => {
    const story = (offset: number, over: Record<string, string> = {}) => ({
      topic: 'orderevents.dead',
      offset,
      headers: {
        'deadletter-app': 'payment-service',
        'deadletter-reason': 'invalid-payload',
        'deadletter-detail': JSON.stringify([{ pointer: '/Payload/Total', message: 'is missing' }]),
        'deadletter-topic': 'orderevents',
        'deadletter-partition': '0',
        'deadletter-offset': String(offset),
        ...over,
      },
    })
    index.add(...[0, 1, 2].map((offset) => indexRecord(orderCreated({}, { Total: undefined }), story(offset))))
    index.add(
      indexRecord('', {
        topic: 'orderevents.dead',
        offset: 3,
        headers: { 'replay-of': 'orderevents/0/1', 'replayed-as': 'orderevents/0/9' },
      }),
    )
    const { groups, others } = index.reads.deadLetterGroups()
    expect(others).to.equal(0)
    expect(groups).to.have.length(1)
    expect(groups[0]).to.deep.include({
      services: ['payment-service'],
      reason: 'invalid-payload',
      pointer: '/Payload/Total',
      message: 'is missing',
      entries: 3,
      open: 2,
      name: 'OrderCreated',
    })
    expect(index.reads.deadLetterPage(groups[0]?.id, 'open', 100).items).to.have.length(2)
    const [replayed] = index.reads.deadLetterPage(undefined, 'replayed', 100).items
    expect(replayed?.attempts[0]?.replayed?.as.offset).to.equal('9')
    const deadLetter = index.reads.event({ topic: 'orderevents.dead', partition: 0, offset: '1' })
    expect(deadLetter?.entries.map(({ id, state }) => [id, state])).to.deep.equal([[replayed?.id, 'replayed']])
  })

  it('shows a service’s report as a sentence without personal values, and groups dead letters by reason', () => {
    const deadLetter = (offset: number, detail: string) =>
      indexRecord(orderCreated(), {
        topic: 'orderevents.dead',
        offset,
        headers: {
          'deadletter-app': 'order-service',
          'deadletter-reason': 'no-such-room',
          'deadletter-detail': detail,
          'deadletter-topic': 'orderevents',
          'deadletter-partition': '0',
          'deadletter-offset': String(offset),
        },
      })
    index.add(deadLetter(0, 'There is no room 13 in this house.'), deadLetter(1, 'No room 14 for Grace Hopper.'))
    const entries = index.reads.deadLetterPage(undefined, undefined, 100).items
    expect(entries.map(({ problem, services }) => [problem, services[0]?.problem])).to.deep.equal(
      ['No room 14 for *** ***.', 'There is no room 13 in this house.'].map((message) => [
        { pointer: '', message },
        { pointer: '', message },
      ]),
    )
    expect(index.reads.rawEntries([entries[1]?.id ?? '']).entries[0]?.faults).to.deep.equal([entries[1]?.problem])
    const { groups } = index.reads.deadLetterGroups()
    expect(groups.map(({ reason, message, entries: count }) => [reason, message, count])).to.deep.equal([
      ['no-such-room', '', 2],
    ])
    expect(index.reads.kinds()).to.have.length(1)
  })

  it('distinguishes events and dead letters with the same position after a topic was created again', () => {
    const deadLetterOf = (at: number, reason: string, record: string) => ({
      topic: 'orderevents.dead',
      headers: {
        'deadletter-app': 'order-service',
        'deadletter-reason': reason,
        'deadletter-topic': 'orderevents',
        'deadletter-partition': '0',
        'deadletter-offset': '0',
        'deadletter-record': record,
        'deadletter-arrived': String(at),
      },
    })
    const [first, second] = [randomUUID(), randomUUID()]
    const note = { 'replay-of': 'orderevents/0/0', 'replay-of-record': first, 'replayed-as': 'orderevents/0/9' }
    index.add(
      indexRecord('{', { at: start }),
      indexRecord('{', { ...deadLetterOf(start, 'not-json', first), at: start + 5, offset: 0 }),
      indexRecord('', { topic: 'orderevents.dead', headers: note, at: start + 10, offset: 1 }),
      indexRecord('[', { at: start + 20 }),
      indexRecord('[', { ...deadLetterOf(start + 20, 'untrusted', second), at: start + 25, offset: 2 }),
    )
    const entries = index.reads.deadLetterPage(undefined, undefined, 100).items
    expect(entries.map(({ state, reason }) => [state, reason])).to.deep.equal([
      ['open', 'untrusted'],
      ['replayed', 'not-json'],
    ])
    const position = { topic: 'orderevents', partition: 0, offset: '0' }
    const reasonsAt = (at?: number) => index.reads.event(position, at)?.entries.map(({ reason }) => reason)
    expect([reasonsAt(start), reasonsAt(start + 20), reasonsAt()]).to.deep.equal([
      ['not-json'],
      ['untrusted'],
      ['untrusted'],
    ])
    const deadLetter = index.reads.event({ ...position, topic: 'orderevents.dead' })
    expect(deadLetter?.cause?.at).to.equal(new Date(start).toISOString())
  })

  it('returns rows that the writer has not reported yet, and the read positions after these rows', () => {
    const deadLetter = (offset: number) =>
      indexRecord(orderCreated(), {
        topic: 'orderevents.dead',
        offset,
        headers: {
          'deadletter-app': 'payment-service',
          'deadletter-reason': 'handler-error',
          'deadletter-topic': 'orderevents',
          'deadletter-partition': '0',
          'deadletter-offset': String(offset),
        },
      })
    const note = indexRecord('', {
      topic: 'orderevents.dead',
      offset: 2,
      headers: { 'replay-of': 'orderevents/0/1', 'replayed-as': 'orderevents/0/9' },
    })
    index.add(deadLetter(0), deadLetter(1))
    const ids = index.reads.deadLetterPage(undefined, undefined, 100).items.map(({ id }) => id)
    // Writes the note without reporting it to the reader.
    index.writer.write([note], positionAfter([note]))
    const { entries, readUpTo } = index.reads.rawEntries(ids)
    expect([...readUpTo]).to.deep.equal([['orderevents.dead/0', 3n]])
    expect(entries.map(({ entry }) => entry.attempts[0]?.replayed?.as.offset)).to.deep.equal([undefined, '9'])
  })

  it('selects entries by id, or all open entries of a group, with their newest attempts', () => {
    const deadLetter = (offset: number, at: number, over: Record<string, string> = {}) =>
      indexRecord(orderCreated(), {
        topic: 'orderevents.dead',
        offset: at,
        headers: {
          'deadletter-app': 'payment-service',
          'deadletter-reason': 'handler-error',
          'deadletter-topic': 'orderevents',
          'deadletter-partition': '0',
          'deadletter-offset': String(offset),
          ...over,
        },
      })
    const note = indexRecord('', {
      topic: 'orderevents.dead',
      offset: 2,
      headers: { 'replay-of': 'orderevents/0/1', 'replayed-as': 'orderevents/0/9' },
    })
    index.add(deadLetter(0, 0), deadLetter(1, 1), note)
    const entries = index.reads.deadLetterPage(undefined, undefined, 100).items
    const [replayed, open] = entries
    const chosen = { id: open?.id, attempt: 'orderevents/0/0' }
    const ids = entries.map(({ id }) => id)
    expect(index.reads.chosenEntries({ group: open?.group })).to.deep.equal({ chosen: [chosen], unknown: undefined })
    expect(index.reads.chosenEntries({ ids: [...ids, 'none'] })).to.deep.equal({
      chosen: [chosen, { id: replayed?.id, attempt: 'orderevents/0/1' }],
      unknown: 'none',
    })
    index.add(deadLetter(1, 3, { 'deadletter-replay': 'orderevents/0/9' }))
    expect(index.reads.chosenEntries({ ids: [replayed?.id ?? ''] }).chosen).to.deep.equal([
      { id: replayed?.id, attempt: 'orderevents/0/9' },
    ])
  })

  describe('a record that two services rejected', () => {
    const record = randomUUID()
    const deadLetter = (app: string, at: number, over: Record<string, string> = {}, reason = 'invalid-payload') =>
      indexRecord(orderCreated({}, { Total: 'x' }), {
        topic: 'orderevents.dead',
        offset: at,
        headers: {
          'deadletter-app': app,
          'deadletter-reason': reason,
          'deadletter-detail': JSON.stringify([{ pointer: '/Payload/Total', message: 'must be number' }]),
          'deadletter-topic': 'orderevents',
          'deadletter-partition': '0',
          'deadletter-offset': '0',
          'deadletter-record': record,
          'deadletter-arrived': String(start),
          ...over,
        },
      })
    const replayed = randomUUID()
    const note = (at: number) =>
      indexRecord('', {
        topic: 'orderevents.dead',
        offset: at,
        headers: {
          ...{ 'replay-of': 'orderevents/0/0', 'replay-of-record': record },
          ...{ 'replayed-as': 'orderevents/0/9', 'replayed-as-record': replayed },
        },
      })
    const again = { 'deadletter-replay': 'orderevents/0/9', 'deadletter-record': replayed }
    const all = () => index.reads.deadLetterPage(undefined, undefined, 100).items

    it('lists the record once, with both services and their dead letters', () => {
      index.add(deadLetter('payment-service', 0), deadLetter('order-service', 1))
      const [entry, ...others] = all()
      expect(others).to.deep.equal([])
      expect(entry?.services.map(({ app, reason, problem }) => [app, reason, problem?.message])).to.deep.equal([
        ['order-service', 'invalid-payload', 'must be number'],
        ['payment-service', 'invalid-payload', 'must be number'],
      ])
      expect(entry?.id).to.equal(entry?.services[1]?.id)
      expect(entry?.attempts.map(({ rejections }) => rejections.map(({ app }) => app))).to.deep.equal([
        ['order-service', 'payment-service'],
      ])
      const { groups } = index.reads.deadLetterGroups()
      expect(groups.map(({ entries, open, services }) => ({ entries, open, services }))).to.deep.equal([
        { entries: 1, open: 1, services: ['order-service', 'payment-service'] },
      ])
      const { entries } = index.reads.event({ topic: 'orderevents.dead', partition: 0, offset: '1' }) ?? {}
      expect(entries?.map(({ id, deadLetters }) => [id, deadLetters.length])).to.deep.equal([[entry?.id, 2]])
    })

    it('finds the record by the id of each dead letter, and selects it once', () => {
      index.add(deadLetter('payment-service', 0), deadLetter('order-service', 1))
      const [entry] = all()
      const ids = entry?.services.map(({ id }) => id) ?? []
      for (const id of ids) expect(index.reads.rawEntries([id]).entries.map(({ view }) => view)).to.deep.equal([entry])
      const chosen = [{ id: entry?.id, attempt: 'orderevents/0/0' }]
      expect(index.reads.chosenEntries({ ids })).to.deep.equal({ chosen, unknown: undefined })
      expect(index.reads.chosenEntries({ group: entry?.group })).to.deep.equal({ chosen, unknown: undefined })
      // Jobs of an earlier version can name one record by both ids.
      const { entries } = index.reads.rawEntries(ids)
      expect(entries.map(({ entry }) => entry.id)).to.have.members(ids)
    })

    it('lists the record as replayed, and as open again if one service rejects the replay', () => {
      index.add(deadLetter('payment-service', 0), deadLetter('order-service', 1), note(2))
      expect(all().map(({ state, attempts }) => [state, attempts.length])).to.deep.equal([['replayed', 1]])
      const [{ id } = { id: '' }] = all()
      index.add(deadLetter('order-service', 3, again))
      const [entry, ...others] = all()
      expect(others).to.deep.equal([])
      expect(entry?.id).to.equal(id)
      expect(entry?.state).to.equal('open')
      expect(entry?.services.map(({ app }) => app)).to.deep.equal(['order-service'])
      expect(entry?.attempts.map(({ rejections }) => rejections.map(({ app }) => app))).to.deep.equal([
        ['order-service', 'payment-service'],
        ['order-service'],
      ])
      expect(index.reads.chosenEntries({ ids: [id] }).chosen).to.deep.equal([{ id, attempt: 'orderevents/0/9' }])
    })

    it('lists a service that rejects the record after the other service’s dead letter was replayed', () => {
      index.add(deadLetter('payment-service', 0), note(1), deadLetter('order-service', 2))
      expect(all().map(({ state, services }) => [state, services.length])).to.deep.equal([['replayed', 2]])
    })

    it('allows a replay if one of the services can handle the record', () => {
      index.add(
        deadLetter('order-service', 0, {}, 'conflicting-order'),
        deadLetter('payment-service', 1, {}, 'handler-error'),
      )
      const [entry] = index.reads.rawEntries(all().map(({ id }) => id)).entries
      expect(entry?.entry.attempts.map(({ reason }) => reason)).to.deep.equal(['handler-error'])
    })

    it('separates two dead letters that name the same position but different records', () => {
      index.add(deadLetter('payment-service', 0), deadLetter('order-service', 1, { 'deadletter-record': randomUUID() }))
      expect(all()).to.have.length(2)
    })
  })
})
