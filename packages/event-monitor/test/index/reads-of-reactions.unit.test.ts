import { positionText } from '@orderflow/kafka-log'
import { UntrustedError } from '@orderflow/service-kit/log'
import { expect } from 'chai'
import { full, indexRecord, orderCreated, type TestIndex, testIndex } from '../support/records.ts'
import { paymentApproved, reactions, second, start } from './events.ts'

describe('reads of the index, about causes and reactions', () => {
  let index: TestIndex
  beforeEach(() => {
    index = testIndex({ segmentEvents: 20 })
  })
  afterEach(() => index.close())

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
})
