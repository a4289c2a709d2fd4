import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import fc from 'fast-check'
import { refusalOf } from '../../src/operations/dead-letters/check.ts'
import {
  type Entry,
  groupsOf,
  openAttempt,
  readDeadLetters,
  selectEntries,
} from '../../src/operations/dead-letters/entries.ts'
import type { Mended } from '../../src/operations/dead-letters/mend.ts'
import { entryLines, groupLines } from '../../src/operations/dead-letters/report.ts'
import { type Outcome, resendEntries } from '../../src/operations/dead-letters/resend.ts'
import { shownValue } from '../../src/operations/dead-letters/shown.ts'
import { OperationError } from '../../src/operations/operation-error.ts'
import { deadLetterOf } from '../../src/stream/dead-letter.ts'
import { type BulkEntry, readDelivery } from '../../src/stream/delivery.ts'
import { type Place, placeText } from '../../src/stream/place.ts'
import { FakeLog } from '../../src/testing/fake-log.ts'

const event = {
  AppId: randomUUID(),
  AppName: 'older-application',
  Version: 1,
  Name: 'OrderCreated',
  CreationDate: '2026-11-21T10:00:00Z',
  Payload: { OrderId: randomUUID(), CustomerName: 'Ada Lovelace', CustomerTaxId: 'SECRET-TAX-ID', Total: 1 },
}
const bytesOf = (document: unknown) => Buffer.from(JSON.stringify(document))

describe('dead letters', () => {
  let log: FakeLog
  beforeEach(() => {
    log = new FakeLog()
  })

  interface Failed {
    topic?: string
    value?: Buffer
    resentFrom?: string
  }
  /** What a service writes when it cannot handle the record at an offset. */
  function fail(
    app: string,
    offset: number,
    reason = 'invalid-payload',
    { topic: origin = 'orderevents', value: failed = Buffer.from('{'), resentFrom }: Failed = {},
  ): Place {
    const metadata: BulkEntry['metadata'] = { __partition: '0', __offset: String(offset), __key: 'k' }
    if (resentFrom) metadata['replayed-from'] = encodeURIComponent(resentFrom)
    const delivery = readDelivery({ entryId: '', event: failed.toString('base64'), metadata }, origin)
    const { topic, key, value, headers } = deadLetterOf(delivery, { code: reason, detail: 'd' }, app, new Date())
    return log.append({ topic, key, value, headers })
  }
  const note = (of: string, as: string) =>
    log.append({ topic: 'orderevents.dead', headers: { 'replay-of': of, 'replayed-as': as } })
  const entries = async () => (await readDeadLetters(log)).entries

  it('are one entry for each app and origin, however often they were written', async () => {
    for (const app of ['order-service', 'payment-service', 'order-service', 'order-service']) fail(app, 7)
    fail('order-service', 8)
    const found = await entries()
    expect(found.map(({ app, origin }) => [app, origin.offset])).to.deep.equal([
      ['order-service', '7'],
      ['payment-service', '7'],
      ['order-service', '8'],
    ])
    expect(found.map(({ attempts }) => attempts.length)).to.deep.equal([1, 1, 1])
  })

  it('are grouped by reason and app, the largest group first', async () => {
    fail('order-service', 1, 'not-json')
    fail('order-service', 2)
    fail('order-service', 3)
    fail('payment-service', 3)
    const groups = groupsOf(await entries()).map(({ name, entries }) => `${name} ${entries.length}`)
    expect(groups).to.deep.equal([
      'invalid-payload/order-service 2',
      'invalid-payload/payment-service 1',
      'not-json/order-service 1',
    ])
  })

  it('are of every topic that has them, and count what is none of ours', async () => {
    fail('order-service', 1)
    fail('order-service', 1, 'not-json', { topic: 'paymentevents' })
    log.append({ topic: 'paymentevents.dead', value: 'x' })
    log.append({ topic: 'orderevents.dead', headers: { 'deadletter-reason': 'x', 'deadletter-app': 'y' } })
    const [letter] = log.records
    log.append({ topic: 'paymentevents.dead', headers: letter?.headers ?? [] })
    const found = await readDeadLetters(log)
    expect(found.entries.map(({ origin }) => placeText(origin))).to.deep.equal(['orderevents/0/1', 'paymentevents/0/1'])
    expect(found.others).to.equal(3)
    expect(groupLines(found).join('\n')).to.contain('3 other records')
  })

  it('are open until they are resent, for both apps that failed', async () => {
    fail('order-service', 1)
    fail('payment-service', 1)
    expect((await entries()).map((entry) => openAttempt(entry)?.place)).to.deep.equal([
      'orderevents/0/1',
      'orderevents/0/1',
    ])
    note('orderevents/0/1', 'orderevents/0/9')
    expect((await entries()).map(openAttempt)).to.deep.equal([undefined, undefined])
  })

  it('stay one entry when what was resent fails again, and are open again for the app that failed', async () => {
    fail('order-service', 1)
    fail('payment-service', 1)
    note('orderevents/0/1', 'orderevents/0/9')
    fail('payment-service', 9, 'conflicting-order', { resentFrom: 'orderevents/0/1' })
    const [order, payment, ...others] = await entries()
    expect([others.length, order && openAttempt(order)]).to.deep.equal([0, undefined])
    expect(payment?.attempts.map(({ place, reason }) => `${place} ${reason}`)).to.deep.equal([
      'orderevents/0/1 invalid-payload',
      'orderevents/0/9 conflicting-order',
    ])
    expect(payment && openAttempt(payment)?.place).to.equal('orderevents/0/9')
  })

  it('are open again when what was resent fails before it is noted', async () => {
    fail('order-service', 1)
    fail('order-service', 9, 'invalid-payload', { resentFrom: 'orderevents/0/1' })
    note('orderevents/0/1', 'orderevents/0/9')
    const [entry] = await entries()
    expect(entry && openAttempt(entry)?.place).to.equal('orderevents/0/9')
  })

  it('cannot be hidden behind a resent one by a publisher that pretends to resend it', async () => {
    fail('order-service', 1)
    note('orderevents/0/1', 'orderevents/0/9')
    fail('order-service', 20, 'not-json', { resentFrom: 'orderevents/0/1' })
    const [entry] = await entries()
    expect(entry && openAttempt(entry)?.place).to.equal('orderevents/0/20')
  })

  describe('that are resent', () => {
    const value = bytesOf(event)

    /** What came of each entry, by app. */
    async function resend(chosen: Entry[], options = {}): Promise<Record<string, Outcome['result'][]>> {
      const outcomes: Outcome[] = []
      for await (const outcome of resendEntries(log, publish, chosen, options)) outcomes.push(outcome)
      const byApp = Map.groupBy(outcomes, ({ entry }) => entry.app)
      return Object.fromEntries([...byApp].map(([app, own]) => [app, own.map(({ result }) => result)]))
    }
    async function publish({ origin, of, ...record }: Mended) {
      const as = placeText(log.append({ ...origin, ...record }))
      note(of, as)
      return { result: 'resent' as const, as }
    }
    const published = () => log.records.filter(({ topic }) => topic === 'orderevents')

    it('are one record for both apps, also when there are more of them than are published at once', async () => {
      for (const app of ['order-service', 'payment-service']) {
        for (let offset = 1; offset <= 60; offset += 1) fail(app, offset, 'handler-error', { value })
      }
      const all = Array.from({ length: 60 }, () => 'resent')
      expect(await resend(await entries())).to.deep.equal({ 'order-service': all, 'payment-service': all })
      expect(published()).to.have.length(60)
      const done = all.map(() => 'done')
      expect(await resend(await entries())).to.deep.equal({ 'order-service': done, 'payment-service': done })
      expect(published()).to.have.length(60)
    })

    it('are refused for the app that they contradict, whichever app comes first', async () => {
      fail('order-service', 1, 'handler-error', { value })
      for (let offset = 2; offset <= 70; offset += 1) fail('order-service', offset)
      fail('payment-service', 1, 'conflicting-order', { value })
      const all = await entries()
      const ours = all.filter(({ origin }) => origin.offset === '1')
      for (const chosen of [all, all.toReversed(), ours, ours.toReversed()]) {
        const { 'order-service': order, 'payment-service': payment } = await resend(chosen, { dryRun: true })
        expect([order?.filter((result) => result !== 'refused'), payment]).to.deep.equal([['ready'], ['refused']])
      }
      expect(published()).to.have.length(0)
      expect(await resend(ours)).to.deep.equal({ 'order-service': ['resent'], 'payment-service': ['refused'] })
      expect(published()).to.have.length(1)
    })
  })

  it('can be named by id, by the beginning of one, by group, or all together', async () => {
    fail('order-service', 1)
    fail('order-service', 2, 'not-json')
    const all = await entries()
    const [first, second] = all
    expect(selectEntries(all, 'all')).to.deep.equal(all)
    expect(selectEntries(all, first?.id ?? '')).to.deep.equal([first])
    expect(selectEntries(all, second?.id.slice(0, 8).toUpperCase() ?? '')).to.deep.equal([second])
    expect(selectEntries(all, 'not-json/order-service')).to.deep.equal([second])
    for (const [what, message] of [
      ['', '2 ids begin with'],
      ['zz', 'no dead letter zz'],
      ['not-json/payment-service', 'no group'],
    ] as const) {
      expect(() => selectEntries(all, what)).to.throw(OperationError, message)
    }
  })

  it('show their problems and not the values of the event', async () => {
    fail('order-service', 1)
    const detail = JSON.stringify([{ pointer: '/Payload/Total', message: 'must be a number' }])
    const letter = {
      ...(await log.at({ topic: 'orderevents.dead', partition: 0, offset: '0' })),
    } as (typeof log.records)[0]
    letter.value = bytesOf(event)
    letter.headers = [[Buffer.from('deadletter-detail'), Buffer.from(detail)]]
    const [entry] = await entries()
    const text = entry ? entryLines(entry, letter, false).join('\n') : ''
    expect(text).to.contain('/Payload/Total must be a number').and.to.contain(event.Payload.OrderId)
    expect(text).not.to.contain('SECRET').and.not.to.contain('Lovelace')
    expect(entry && entryLines(entry, letter, true).join('\n')).to.contain('SECRET-TAX-ID')
  })
})

describe('an event that is shown', () => {
  it('never tells a tax id, under whatever name that is not of the contract', () => {
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom('customer_tax_id', 'CustomerTaxID', 'taxid', 'Payload', 'Note', '0'),
    )
    const document = fc.letrec((tie) => ({
      value: fc.oneof(fc.constant('SECRET-TAX-ID'), fc.constant(987654321), tie('list'), tie('object')),
      list: fc.array(tie('value'), { maxLength: 3 }),
      object: fc.dictionary(names, tie('value'), { maxKeys: 3 }),
    })).value
    const property = fc.property(document, fc.constantFrom('', ' ', '}'), (value, damage) => {
      const shown = shownValue(Buffer.from(JSON.stringify(value) + damage), false)
      expect(shown).not.to.contain('SECRET').and.not.to.contain('987654321')
    })
    fc.assert(property)
  })

  it('keeps every digit and every key with its values', () => {
    const exact = '{"Total":12345678901234567890,"Total":1}'
    expect(shownValue(Buffer.from(exact), true)).to.equal(exact)
    expect(shownValue(Buffer.from('{"a":[1]}'), true)).to.equal('{\n  "a": [\n    1\n  ]\n}')
  })

  for (const [what, value] of Object.entries({
    'nests without end': '['.repeat(100_000),
    'nests without end and is JSON': '['.repeat(100_000) + ']'.repeat(100_000),
    'is not text': Buffer.from([0xff, 0x00, 0x1b]),
    'is a tombstone': '',
  })) {
    it(`says so when it ${what}`, () => {
      expect(shownValue(Buffer.from(value as string), false)).to.match(/^\(/)
      expect(() => shownValue(Buffer.from(value as string), true)).not.to.throw()
    })
  }
})

describe('a resend is refused', () => {
  it('as long as the schemas refuse the event, naming every problem', () => {
    const wrong = { ...event, CreationDate: 'today', Payload: { ...event.Payload, Total: '1' } }
    const why = refusalOf(bytesOf(wrong), 'invalid-payload')
    expect(why).to.have.length(2)
    expect(why.join()).to.contain('/CreationDate').and.to.contain('/Payload/Total')
    expect(refusalOf(Buffer.alloc(0), 'not-an-envelope').join()).to.contain('tombstone')
    expect(refusalOf(bytesOf({ ...event, Name: 'OrderCraeted' }), undefined).join()).to.contain('unknown-event')
  })

  it('not when the schemas have learned to accept it, or the fault was ours', () => {
    for (const reason of ['unknown-version', 'handler-error', 'refused', undefined]) {
      expect(refusalOf(bytesOf(event), reason)).to.deep.equal([])
    }
  })

  it('when the event contradicts what is known and was not edited', () => {
    expect(refusalOf(bytesOf(event), 'conflicting-order').join()).to.contain('contradicts')
    expect(refusalOf(bytesOf(event), undefined)).to.deep.equal([])
  })
})

describe('a place', () => {
  it('is written as text and read back', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('orderevents', 'a.b-c_d'),
        fc.nat(999),
        fc.bigInt(0n, 2n ** 59n),
        (topic, partition, at) => {
          const place = { topic, partition, offset: String(at) }
          const header = encodeURIComponent(placeText(place))
          const metadata = { __partition: '0', __offset: '0', 'replayed-from': header }
          const { origin } = readDelivery({ entryId: '', event: '', metadata }, topic)
          expect(origin).to.deep.equal(place)
        },
      ),
    )
  })
})
