import { deterministicId } from '@orderflow/envelope'
import { positionText } from '@orderflow/kafka-log'
import { expect } from 'chai'
import {
  type Entry,
  groupsOf,
  openAttempt,
  readDeadLetters,
  selectEntries,
} from '../../../src/operations/dead-letters/entries.ts'
import { entryLines, groupLines } from '../../../src/operations/dead-letters/report.ts'
import { OperationError } from '../../../src/operations/terminal.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { fail, failUnread, note } from './records.ts'

describe('readDeadLetters', () => {
  let log: FakeLog
  beforeEach(() => {
    log = new FakeLog()
  })
  const entries = async () => (await readDeadLetters(log)).entries
  const openPosition = (entry: Entry | undefined) => {
    const attempt = entry && openAttempt(entry)
    return attempt && positionText(attempt.position)
  }

  it('returns one entry for each app and origin, even if the app wrote several dead letters about this origin', async () => {
    for (const app of ['order-service', 'payment-service', 'order-service', 'order-service']) fail(log, app, 7)
    fail(log, 'order-service', 8)
    const found = await entries()
    expect(found.map(({ app, origin }) => [app, origin.offset])).to.deep.equal([
      ['order-service', '7'],
      ['payment-service', '7'],
      ['order-service', '8'],
    ])
    expect(found.map(({ attempts }) => attempts.length)).to.deep.equal([1, 1, 1])
  })

  it('groupsOf groups entries by reason and app, with the largest group first', async () => {
    fail(log, 'order-service', 1, 'not-json')
    fail(log, 'order-service', 2)
    fail(log, 'order-service', 3)
    fail(log, 'payment-service', 3)
    const groups = groupsOf(await entries()).map(([name, entries]) => `${name} ${entries.length}`)
    expect(groups).to.deep.equal([
      'invalid-payload/order-service 2',
      'invalid-payload/payment-service 1',
      'not-json/order-service 1',
    ])
  })

  it('reads all dead-letter topics, and counts the records of other applications', async () => {
    fail(log, 'order-service', 1)
    fail(log, 'order-service', 1, 'not-json', { topic: 'paymentevents' })
    log.append({ topic: 'paymentevents.dead', value: 'x' })
    log.append({ topic: 'orderevents.dead', headers: { 'deadletter-reason': 'x', 'deadletter-app': 'y' } })
    const [deadLetter] = log.records
    log.append({ topic: 'paymentevents.dead', headers: deadLetter?.headers ?? [] })
    const found = await readDeadLetters(log)
    expect(found.entries.map(({ origin }) => positionText(origin))).to.deep.equal([
      'orderevents/0/1',
      'paymentevents/0/1',
    ])
    expect(found.others).to.equal(3)
    expect(groupLines(found).join('\n')).to.contain('3 other records')
  })

  it('keeps the entries of two apps open until their common event is replayed', async () => {
    fail(log, 'order-service', 1)
    fail(log, 'payment-service', 1)
    expect((await entries()).map(openPosition)).to.deep.equal(['orderevents/0/1', 'orderevents/0/1'])
    note(log, 'orderevents/0/1', 'orderevents/0/9')
    expect((await entries()).map(openAttempt)).to.deep.equal([undefined, undefined])
  })

  it('adds the failure of a replayed event to the event’s entry, and opens this entry again', async () => {
    fail(log, 'order-service', 1)
    fail(log, 'payment-service', 1)
    note(log, 'orderevents/0/1', 'orderevents/0/9')
    fail(log, 'payment-service', 9, 'conflicting-order', { replayedFrom: 'orderevents/0/1' })
    const [order, payment, ...others] = await entries()
    expect([others.length, order && openAttempt(order)]).to.deep.equal([0, undefined])
    expect(payment?.attempts.map(({ position, reason }) => `${positionText(position)} ${reason}`)).to.deep.equal([
      'orderevents/0/1 invalid-payload',
      'orderevents/0/9 conflicting-order',
    ])
    expect(openPosition(payment)).to.equal('orderevents/0/9')
  })

  it('keeps an entry open if the replayed event fails again before the replay has written its note', async () => {
    fail(log, 'order-service', 1)
    fail(log, 'order-service', 9, 'invalid-payload', { replayedFrom: 'orderevents/0/1' })
    note(log, 'orderevents/0/1', 'orderevents/0/9')
    const [entry] = await entries()
    expect(openPosition(entry)).to.equal('orderevents/0/9')
  })

  describe('after the topic was created again', () => {
    const storiesOf = (found: Entry[]) =>
      found.map((entry) => [openAttempt(entry) ? 'open' : 'replayed', ...entry.attempts.map(({ reason }) => reason)])

    for (const [record, value] of [
      ['another event', Buffer.from('[')],
      ['an event with the same bytes', Buffer.from('{')],
    ] as const) {
      it(`returns an open entry, although ${record} failed earlier at the same position and was replayed`, async () => {
        fail(log, 'order-service', 1, 'not-json', { arrivedAt: 1_000 })
        note(log, 'orderevents/0/1', 'orderevents/0/9')
        const [before] = await entries()
        fail(log, 'order-service', 1, 'untrusted', { arrivedAt: 2_000, value })
        const found = await entries()
        expect(storiesOf(found)).to.deep.equal([
          ['replayed', 'not-json'],
          ['open', 'untrusted'],
        ])
        expect(found[0]).to.deep.equal(before)
      })
    }

    it('returns an open entry, although a note without ids names an earlier record at the same position', async () => {
      failUnread(log, 'order-service', 1)
      note(log, 'orderevents/0/1', 'orderevents/0/9')
      const [before] = await entries()
      fail(log, 'order-service', 1, 'untrusted', { value: Buffer.from('[') })
      const found = await entries()
      expect(storiesOf(found)).to.deep.equal([
        ['replayed', 'internal-error'],
        ['open', 'untrusted'],
      ])
      expect(found[0]).to.deep.equal(before)
    })

    it('adds an open attempt for a dead letter without a record id if an earlier dead letter at this position was replayed', async () => {
      failUnread(log, 'order-service', 1)
      note(log, 'orderevents/0/1', 'orderevents/0/9')
      failUnread(log, 'order-service', 1)
      expect(storiesOf(await entries())).to.deep.equal([['open', 'internal-error', 'internal-error']])
    })

    it('makes a new entry for a failed record that has the position of an earlier replay’s record', async () => {
      fail(log, 'order-service', 1, 'not-json', { arrivedAt: 1_000 })
      note(log, 'orderevents/0/1', 'orderevents/0/9')
      fail(log, 'order-service', 9, 'untrusted', { arrivedAt: 2_000, value: Buffer.from('[') })
      expect(storiesOf(await entries())).to.deep.equal([
        ['replayed', 'not-json'],
        ['open', 'untrusted'],
      ])
    })
  })

  it('returns the same entries for a mirror of the log, which has the same times but different positions', async () => {
    fail(log, 'order-service', 7, 'not-json', { arrivedAt: 1_000 })
    const [source] = await entries()
    fail(log, 'order-service', 2, 'not-json', { arrivedAt: 1_000 })
    expect((await entries()).map(({ id, attempts }) => [id, attempts.length])).to.deep.equal([[source?.id, 1]])
  })

  it('identifies dead letters without a record id by their position', async () => {
    for (const app of ['order-service', 'payment-service', 'order-service']) failUnread(log, app, 1)
    failUnread(log, 'order-service', 2)
    note(log, 'orderevents/0/1', 'orderevents/0/9')
    const ids = (await entries()).map(({ id, attempts }) => [id, attempts.length])
    const idOf = (app: string, offset: string) => deterministicId('dead-letter', app, 'orderevents', '0', offset)
    expect(ids).to.deep.equal([
      [idOf('order-service', '1'), 1],
      [idOf('payment-service', '1'), 1],
      [idOf('order-service', '2'), 1],
    ])
    const open = (await entries()).map((entry) => openPosition(entry))
    expect(open).to.deep.equal([undefined, undefined, 'orderevents/0/2'])
  })

  describe('for a record that claims to be a replay', () => {
    const positionsOf = async () =>
      (await entries()).map(({ origin, attempts }) => [
        positionText(origin),
        attempts.map(({ position }) => positionText(position)).join(),
      ])

    it('returns a separate entry if the note is missing, and does not change the entry of the claimed event', async () => {
      fail(log, 'order-service', 1)
      const [before] = await entries()
      fail(log, 'order-service', 20, 'not-json', { replayedFrom: 'orderevents/0/1' })
      const [entry, forged] = await entries()
      expect(entry).to.deep.equal(before)
      expect(await positionsOf()).to.deep.equal([
        ['orderevents/0/1', 'orderevents/0/1'],
        ['orderevents/0/20', 'orderevents/0/20'],
      ])
      expect(forged && openAttempt(forged)?.reason).to.equal('not-json')
      const story = forged && entryLines(forged, undefined, false).join('\n')
      expect(story).to.contain('names a replay from orderevents/0/1, but there is no note of that replay')
    })

    it('returns an open entry if the note is missing, even if the claimed event was already replayed', async () => {
      fail(log, 'order-service', 1)
      note(log, 'orderevents/0/1', 'orderevents/0/9')
      fail(log, 'order-service', 20, 'not-json', { replayedFrom: 'orderevents/0/1' })
      const [done, forged] = await entries()
      expect([done && openAttempt(done), openPosition(forged)]).to.deep.equal([undefined, 'orderevents/0/20'])
    })

    it('combines the attempts in one entry when notes confirm the replays', async () => {
      fail(log, 'order-service', 1)
      fail(log, 'order-service', 9, 'invalid-payload', { replayedFrom: 'orderevents/0/1' })
      fail(log, 'order-service', 12, 'invalid-payload', { replayedFrom: 'orderevents/0/1' })
      note(log, 'orderevents/0/9', 'orderevents/0/12')
      expect(await positionsOf()).to.deep.equal([
        ['orderevents/0/1', 'orderevents/0/1'],
        ['orderevents/0/9', 'orderevents/0/9,orderevents/0/12'],
      ])
      note(log, 'orderevents/0/1', 'orderevents/0/9')
      expect(await positionsOf()).to.deep.equal([
        ['orderevents/0/1', 'orderevents/0/1,orderevents/0/9,orderevents/0/12'],
      ])
    })

    it('returns one entry even if the notes form a circle', async () => {
      fail(log, 'order-service', 9, 'not-json', { replayedFrom: 'orderevents/0/1' })
      note(log, 'orderevents/0/9', 'orderevents/0/9')
      note(log, 'orderevents/0/9', 'orderevents/0/1')
      note(log, 'orderevents/0/1', 'orderevents/0/9')
      expect(await positionsOf()).to.deep.equal([['orderevents/0/1', 'orderevents/0/9']])
    })
  })

  it('uses the record’s own position as the origin if the claimed origin is impossible', async () => {
    const common = {
      'deadletter-app': 'order-service',
      'deadletter-reason': 'not-json',
      'deadletter-topic': 'orderevents',
    }
    for (const [partition, offset, replayed] of [
      ['99', '0', 'orderevents/0/5'],
      ['0', '1000000', 'orderevents/0/6'],
      ['0', '1', 'paymentevents/0/7'],
    ] as const) {
      const claim = { 'deadletter-partition': partition, 'deadletter-offset': offset, 'deadletter-replay': replayed }
      log.append({ topic: 'orderevents.dead', headers: { ...common, ...claim } })
    }
    const { entries: found, others } = await readDeadLetters(log)
    expect(found.map(({ origin, attempts }) => [positionText(origin), attempts[0]?.origin])).to.deep.equal([
      ['orderevents/0/5', { topic: 'orderevents', partition: 0, offset: '5' }],
      ['orderevents/0/6', { topic: 'orderevents', partition: 0, offset: '6' }],
    ])
    expect(others).to.equal(1)
  })

  it('ignores dead letters with a longer app name or reason than our services write', async () => {
    fail(log, 'x'.repeat(201), 1)
    fail(log, 'order-service', 1, 'x'.repeat(101))
    expect(await readDeadLetters(log)).to.deep.equal({ entries: [], others: 2 })
  })

  it('selectEntries accepts an id in every usual spelling', async () => {
    fail(log, 'order-service', 1)
    fail(log, 'order-service', 2)
    const all = await entries()
    const id = all[1]?.id ?? ''
    const hex = id.replaceAll('-', '')
    for (const what of [id.toUpperCase(), hex, `{${id}}`, `urn:uuid:${id}`, hex.slice(0, 12), id.slice(0, 11)])
      expect(selectEntries(all, what), what).to.deep.equal([all[1]])
  })

  it('selectEntries selects entries by id, by the beginning of an id or by group, or selects all', async () => {
    fail(log, 'order-service', 1)
    fail(log, 'order-service', 2, 'not-json')
    const all = await entries()
    const [first, second] = all
    expect(selectEntries(all, 'all')).to.deep.equal(all)
    expect(selectEntries(all, first?.id ?? '')).to.deep.equal([first])
    expect(selectEntries(all, second?.id.slice(0, 8).toUpperCase() ?? '')).to.deep.equal([second])
    expect(selectEntries(all, 'not-json/order-service')).to.deep.equal([second])
    for (const [what, message] of [
      ['', '2 ids begin with'],
      ['zz', 'unknown dead letter zz'],
      ['not-json/payment-service', 'unknown group'],
    ] as const) {
      expect(() => selectEntries(all, what)).to.throw(OperationError, message)
    }
  })
})
