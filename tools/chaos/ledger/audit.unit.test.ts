import { expect } from 'chai'
import { audit, evidence, totals } from './audit.ts'
import { type DeadLetter, type LoggedEvent, openBook, type StoredOrder, type StoredPayment } from './book.ts'
import { checks, differences } from './checks.ts'
import { countExpiries, type Expiry, expiryChecks } from './expiries.ts'

interface Placed {
  name: string
  source: 'http' | 'outside'
  total: number
  id: string
  accepted?: boolean
  gaveUp?: boolean
  cancel?: 'asked' | 'accepted'
  at?: number
}

const second = 1_000
const expiry: Expiry = { withinMs: 30 * second, lateMs: 40 * second, calmAt: 100 * second, auditedAt: 300 * second }

/** Builds a correct world: orders that are paid, refunded, rejected, cancelled before the charge, and expired. */
function healthyWorld() {
  const placed: Placed[] = [
    { name: 'http 1', source: 'http', total: 10, id: 'a', accepted: true },
    { name: 'http 2', source: 'http', total: 20, id: 'b', accepted: true, cancel: 'accepted' },
    { name: 'outside 1', source: 'outside', total: 10_001, id: 'c', accepted: true },
    { name: 'outside 2', source: 'outside', total: 40, id: 'd', accepted: true, cancel: 'asked' },
    // The request for this order got no answer, but the order is in the log. So it must be stored and paid like all others.
    { name: 'http 3', source: 'http', total: 50, id: 'e' },
    { name: 'http 4', source: 'http', total: 60, id: 'f' },
    { name: 'http 5', source: 'http', total: 70, id: 'g', accepted: true, at: 50 * second },
    { name: 'outside 3', source: 'outside', total: 80, id: 'h', accepted: true },
  ]
  let offset = 0n
  const event = (topic: string, name: string, orderId: string, amount?: number, at = Number(offset)): LoggedEvent => {
    offset += 1n
    const told = { topic, partition: 0, offset, name, orderId, eventId: `${name} ${orderId}`, at }
    return { ...told, digest: `${name} ${orderId}`, ...(amount !== undefined && { amount }) }
  }
  const poison = (topic: string, name: string, at: bigint): LoggedEvent => {
    return { topic, partition: 1, offset: at, digest: name, poison: name, at: 1 }
  }
  const events = [
    event('orderevents', 'OrderCreated', 'a', 10),
    event('orderevents', 'OrderCreated', 'a', 10),
    event('orderevents', 'OrderCreated', 'b', 20),
    event('orderevents', 'OrderCancelled', 'b'),
    event('orderevents', 'OrderCreated', 'c', 10_001),
    event('orderevents', 'OrderCancelled', 'd'),
    event('orderevents', 'OrderCreated', 'd', 40),
    event('orderevents', 'OrderCreated', 'e', 50),
    event('paymentevents', 'PaymentApproved', 'a', 10),
    event('paymentevents', 'PaymentApproved', 'a', 10),
    event('paymentevents', 'PaymentApproved', 'b', 20),
    event('paymentevents', 'PaymentRefunded', 'b', 20),
    event('paymentevents', 'PaymentRejected', 'c', 10_001),
    event('paymentevents', 'PaymentRejected', 'd', 40),
    event('paymentevents', 'PaymentApproved', 'e', 50),
    // The announcement of a request's event was late. The order then expires, and is cancelled.
    event('orderevents', 'OrderCreated', 'g', 70, 60 * second),
    event('orderevents', 'OrderReminded', 'g', undefined, 65 * second),
    event('deadlines', 'DeadlinePassed', 'g', undefined, 80 * second),
    event('orderevents', 'OrderExpired', 'g', 70, 81 * second),
    event('orderevents', 'OrderExpired', 'g', 70, 82 * second),
    event('paymentevents', 'PaymentRejected', 'g', 70, 83 * second),
    event('orderevents', 'OrderCancelled', 'g', undefined, 84 * second),
    // The publisher of this order repeats it. A fault delays its expiry, and a payment of another replica wins.
    event('orderevents', 'OrderCreated', 'h', 80, 70 * second),
    event('orderevents', 'OrderCreated', 'h', 80, 90 * second),
    event('orderevents', 'OrderExpired', 'h', 80, 150 * second),
    event('paymentevents', 'PaymentApproved', 'h', 80, 151 * second),
    poison('orderevents', 'poison 1', 1n),
    poison('paymentevents', 'poison 2', 1n),
  ]
  const deadLetter = (app: string, topic: string): DeadLetter => {
    return { id: `${app} ${topic}`, app, topic, partition: 1, offset: 1n, reason: 'not-json' }
  }
  const deadLetters = [
    deadLetter('order-service', 'orderevents'),
    deadLetter('order-service', 'orderevents'),
    deadLetter('payment-service', 'orderevents'),
    deadLetter('order-service', 'paymentevents'),
  ]
  const orders: StoredOrder[] = [
    { id: 'a', name: 'http 1', total: 10, status: 'Paid', charged: 10 },
    { id: 'b', name: 'http 2', total: 20, status: 'Refunded', charged: 20 },
    { id: 'c', name: 'outside 1', total: 10_001, status: 'PaymentRejected', charged: 10_001 },
    { id: 'd', name: 'outside 2', total: 40, status: 'Cancelled', charged: 40 },
    { id: 'e', name: 'http 3', total: 50, status: 'Paid', charged: 50 },
    { id: 'g', name: 'http 5', total: 70, status: 'Cancelled', charged: 70 },
    { id: 'h', name: 'outside 3', total: 80, status: 'Paid', charged: 80 },
  ]
  const payments: StoredPayment[] = [
    { id: 'pa', orderId: 'a', amount: 10, status: 'Approved' },
    { id: 'pb', orderId: 'b', amount: 20, status: 'Refunded' },
    { id: 'pc', orderId: 'c', amount: 10_001, status: 'Rejected' },
    { id: 'pd', orderId: 'd', amount: 40, status: 'Rejected' },
    { id: 'pe', orderId: 'e', amount: 50, status: 'Approved' },
    { id: 'pg', orderId: 'g', amount: 70, status: 'Rejected' },
    { id: 'ph', orderId: 'h', amount: 80, status: 'Approved' },
  ]
  const sent = [
    { name: 'poison 1', topic: 'orderevents', accepted: true },
    { name: 'poison 2', topic: 'paymentevents', accepted: true },
    { name: 'poison 3', topic: 'orderevents', accepted: false },
  ]
  const surprises: string[] = []
  /** The contents of the stores, if they differ from the services’ answers. */
  const files: { orders?: StoredOrder[]; payments?: StoredPayment[] } = {}
  return { placed, sent, surprises, events, deadLetters, orders, payments, files, event }
}
type World = ReturnType<typeof healthyWorld>

function bookOf(world: World) {
  const book = openBook({ orderevents: ['order-service', 'payment-service'], paymentevents: ['order-service'] })
  for (const { name, source, total, id, accepted, gaveUp, cancel, at = 0 } of world.placed) {
    book.attempted({ name, source, total, at, ...(source === 'outside' && { id }) })
    if (accepted) book.accepted(name, id)
    if (gaveUp) book.gaveUp(name)
    if (cancel) book.cancelAttempted(name)
    if (cancel === 'accepted') book.cancelAccepted(name)
  }
  for (const { name, topic, accepted } of world.sent) {
    book.poisonAttempted(name, topic)
    if (accepted) book.poisonAccepted(name)
  }
  for (const what of world.surprises) book.surprise(what)
  world.events.forEach(book.logged)
  world.deadLetters.forEach(book.deadLetter)
  for (const order of world.orders) book.order('api', order)
  for (const order of world.files.orders ?? world.orders) book.order('store', order)
  for (const payment of world.payments) book.payment('api', payment)
  for (const payment of world.files.payments ?? world.payments) book.payment('store', payment)
  return book
}

const auditOf = (world: World) => audit(bookOf(world), { views: ['api', 'store'], approveUpTo: 10_000, expiry })

function remove<T>(list: T[], isMeant: (item: T) => boolean): void {
  const kept = list.filter((item) => !isMeant(item))
  if (kept.length === list.length) throw new Error('nothing matches, so nothing is removed')
  list.splice(0, list.length, ...kept)
}
function change<T extends object>(list: T[], isMeant: (item: T) => boolean, changes: Partial<T>): void {
  const index = list.findIndex(isMeant)
  list[index] = { ...(list[index] as T), ...changes }
}
const withId = (id: string) => (item: { id: string }) => item.id === id
const ofOrder = (id: string) => (item: { orderId?: string }) => item.orderId === id
const told = (name: string, id: string) => (event: LoggedEvent) => event.name === name && event.orderId === id

/** The errors, each with the expected finding and its ids. */
const mishaps: [finding: string, ids: string[], mishap: (world: World) => void][] = [
  ['lost: an accepted order that is not stored', ['a'], ({ orders }) => remove(orders, withId('a'))],
  ['lost: an accepted order that is not in the log', ['a'], ({ events }) => remove(events, told('OrderCreated', 'a'))],
  ['lost: an order in the log that is not stored', ['e'], ({ orders }) => remove(orders, withId('e'))],
  ['lost: a payment that was never announced', ['a'], ({ events }) => remove(events, told('PaymentApproved', 'a'))],
  [
    'lost: an accepted cancellation that is not in the log',
    ['b'],
    ({ events }) => remove(events, told('OrderCancelled', 'b')),
  ],
  [
    'lost: an accepted poison record that is not in the log',
    ['poison 2'],
    ({ events }) => remove(events, ({ poison }) => poison === 'poison 2'),
  ],
  [
    'lost: a poison record without a dead letter of an app',
    ['poison 1'],
    ({ deadLetters }) => remove(deadLetters, ({ app }) => app === 'payment-service'),
  ],
  [
    'duplicated: an order that is listed several times',
    ['a'],
    ({ orders }) => orders.push(...orders.filter(withId('a'))),
  ],
  [
    'duplicated: several orders of one request',
    ['http 1'],
    ({ orders }) => orders.push({ id: 'z', name: 'http 1', total: 10, status: 'Paid', charged: 10 }),
  ],
  [
    'duplicated: several payments of one order',
    ['a'],
    ({ payments }) => payments.push({ id: 'other', orderId: 'a', amount: 10, status: 'Approved' }),
  ],
  [
    'duplicated: several announced results of one payment',
    ['a'],
    ({ events, event }) => events.push({ ...event('paymentevents', 'PaymentApproved', 'a', 10), digest: 'other' }),
  ],
  [
    'duplicated: several announced refunds of one payment',
    ['b'],
    ({ events, event }) => events.push({ ...event('paymentevents', 'PaymentRefunded', 'b', 20), digest: 'other' }),
  ],
  [
    'duplicated: several dead letters of one record and app',
    ['paymentevents 1:1'],
    ({ deadLetters }) => deadLetters.push({ ...(deadLetters.at(-1) as DeadLetter), id: 'other' }),
  ],
  ['stuck: an order without a payment', ['a'], ({ payments }) => remove(payments, ofOrder('a'))],
  [
    'stuck: an order without a due refund',
    ['b'],
    ({ payments }) => change(payments, ofOrder('b'), { status: 'Approved' }),
  ],
  [
    'stuck: an order whose status contradicts its payment (docs/orders.md)',
    ['a'],
    ({ orders }) => change(orders, withId('a'), { status: 'Created' }),
  ],
  [
    'stuck: an order whose status contradicts its payment (docs/orders.md)',
    ['b'],
    ({ orders }) => change(orders, withId('b'), { status: 'Paid' }),
  ],
  [
    'stuck: an order whose status contradicts its payment (docs/orders.md)',
    ['d'],
    ({ orders }) => change(orders, withId('d'), { status: 'PaymentRejected' }),
  ],
  [
    'stuck: a client that was refused until the end',
    ['http 4'],
    ({ placed }) => change(placed, withId('f'), { gaveUp: true }),
  ],
  [
    'wrong: an answer or exit that no fault explains',
    ['POST answered 500'],
    ({ surprises }) => surprises.push('POST answered 500'),
  ],
  [
    'wrong: an invalid record that is not poison',
    ['orderevents 2:7'],
    ({ events }) => events.push({ topic: 'orderevents', partition: 2, offset: 7n, digest: '', at: 1 }),
  ],
  ['wrong: an order that was never placed', ['e'], ({ orders }) => change(orders, withId('e'), { name: 'somebody' })],
  [
    'wrong: an order whose id or total differs from the placed one',
    ['a'],
    ({ placed }) => change(placed, withId('a'), { total: 11 }),
  ],
  [
    'wrong: an order whose id or total differs from the placed one',
    ['a'],
    ({ placed }) => change(placed, withId('a'), { id: 'answered' }),
  ],
  [
    'wrong: an amount that differs from the total',
    ['a'],
    ({ payments }) => change(payments, ofOrder('a'), { amount: 11 }),
  ],
  ['wrong: an amount that differs from the total', ['a'], ({ orders }) => change(orders, withId('a'), { charged: 11 })],
  [
    'wrong: an event whose amount differs from the total',
    ['a'],
    ({ events }) => change(events, told('PaymentApproved', 'a'), { amount: 11 }),
  ],
  ['wrong: a payment without an order', ['e'], ({ orders }) => remove(orders, withId('e'))],
  [
    'wrong: a payment that contradicts the policy',
    ['c'],
    ({ payments }) => change(payments, ofOrder('c'), { status: 'Approved' }),
  ],
  [
    'wrong: a payment that contradicts the policy',
    ['a'],
    ({ payments }) => change(payments, ofOrder('a'), { status: 'Rejected' }),
  ],
  [
    'wrong: a payment that contradicts the policy',
    ['a'],
    ({ payments }) => change(payments, ofOrder('a'), { status: 'Refunded' }),
  ],
  [
    'wrong: a cancellation that was never requested',
    ['a'],
    ({ events, event }) => events.push(event('orderevents', 'OrderCancelled', 'a')),
  ],
  [
    'duplicated: several announced reminders, expiries or cancellations of one order',
    ['g'],
    ({ events, event }) => events.push({ ...event('orderevents', 'OrderExpired', 'g', 70, 85_000), digest: 'other' }),
  ],
  [
    'duplicated: several announced reminders, expiries or cancellations of one order',
    ['g'],
    ({ events, event }) => events.push({ ...event('orderevents', 'OrderReminded', 'g', 70, 85_000), digest: 'other' }),
  ],
  [
    'duplicated: several announced reminders, expiries or cancellations of one order',
    ['g'],
    ({ events, event }) => events.push({ ...event('orderevents', 'OrderCancelled', 'g', 70, 85_000), digest: 'other' }),
  ],
  [
    'wrong: a paid order that time has cancelled',
    ['h'],
    ({ events, event }) => events.push(event('orderevents', 'OrderCancelled', 'h', undefined, 152 * second)),
  ],
  [
    'wrong: an order whose expiry or reminder was early',
    ['g'],
    ({ placed }) => change(placed, withId('g'), { at: 51_001 }),
  ],
  [
    'wrong: an order whose expiry or reminder was early',
    ['g'],
    ({ events }) => change(events, told('OrderReminded', 'g'), { at: 64_999 }),
  ],
  [
    'wrong: an order whose expiry or reminder was early',
    ['h'],
    ({ events }) => change(events, told('OrderExpired', 'h'), { at: 99_999 }),
  ],
  [
    'stuck: an order that was open too long after its deadline',
    ['h'],
    ({ events }) => {
      change(events, told('OrderExpired', 'h'), { at: 161_000 })
      change(events, told('PaymentApproved', 'h'), { at: 162_000 })
    },
  ],
  [
    'stuck: an order that was open too long after its deadline',
    ['a'],
    ({ events }) => {
      remove(events, told('PaymentApproved', 'a'))
    },
  ],
  [
    'wrong: a dead letter of a valid record',
    ['orderevents 0:1'],
    ({ deadLetters }) => deadLetters.push({ ...(deadLetters[0] as DeadLetter), id: 'other', partition: 0 }),
  ],
  [
    'lost: an order that is stored but not listed',
    ['a'],
    (world) => {
      world.files.orders = world.orders
      world.orders = world.orders.filter(({ id }) => id !== 'a')
    },
  ],
  [
    'lost: a payment that is stored but not listed',
    ['a'],
    (world) => {
      world.files.payments = world.payments
      world.payments = world.payments.filter(({ orderId }) => orderId !== 'a')
    },
  ],
  [
    'wrong: an order that differs between services and stores',
    ['a'],
    ({ files, orders }) => {
      files.orders = orders.filter(({ id }) => id !== 'a')
    },
  ],
  [
    'wrong: a payment that differs between services and stores',
    ['a'],
    ({ files, payments }) => {
      files.payments = payments.filter(({ orderId }) => orderId !== 'a')
    },
  ],
]

describe('the ledger', () => {
  it('finds nothing in a correct world, even if the log repeats events', () => {
    expect(auditOf(healthyWorld())).to.deep.equal([])
  })

  for (const [finding, ids, mishap] of mishaps) {
    it(`reports for ${ids} “${finding}”`, () => {
      const world = healthyWorld()
      mishap(world)
      const findings = auditOf(world).filter(({ kind, what }) => `${kind}: ${what}` === finding)
      expect(findings).not.to.deep.equal([])
      for (const found of findings) expect(found.ids).to.deep.equal(ids)
    })
  }

  it('tests each check with an error in the test data', () => {
    const questions = [...checks, ...expiryChecks, ...differences].map(({ kind, what }) => `${kind}: ${what}`)
    expect(new Set(mishaps.map(([finding]) => finding))).to.deep.equal(new Set(questions))
  })

  it('counts the expired orders, and the largest delay after the end of all faults', () => {
    const world = healthyWorld()
    expect(countExpiries(bookOf(world), expiry)).to.deep.equal({ expired: 2, calm: 1, mostLateMs: 30 * second })
    const all = { ...expiry, calmAt: 0 }
    expect(countExpiries(bookOf(world), all)).to.deep.equal({ expired: 2, calm: 2, mostLateMs: 30 * second })
    remove(world.events, ({ name }) => name === 'OrderExpired')
    expect(countExpiries(bookOf(world), all)).to.deep.equal({ expired: 0, calm: 0, mostLateMs: 0 })
  })

  it('finds a document that is missing in only one source of documents', () => {
    const world = healthyWorld()
    world.files.orders = world.orders.filter(({ id }) => id !== 'a')
    const lost = auditOf(world).filter(({ kind }) => kind === 'lost')
    expect(lost.map(({ view }) => view)).to.deep.equal(['store', 'store'])
    expect(totals(lost)).to.deep.equal({ lost: 1, duplicated: 0, stuck: 0, wrong: 0 })
  })

  it('returns all records, attempts and documents that belong to the id of a finding', () => {
    const book = bookOf(healthyWorld())
    const counts = (id: string) => Object.values(evidence(book, id)).map((rows) => rows.length)
    expect(counts('b')).to.deep.equal([1, 4, 0, 2, 2])
    expect(counts('http 2')).to.deep.equal(counts('b'))
    expect(counts('poison 1')).to.deep.equal([0, 1, 3, 0, 0])
    expect(counts('paymentevents 1:1')).to.deep.equal([0, 1, 1, 0, 0])
  })
})
