import { randomUUID } from 'node:crypto'
import { expect } from 'chai'
import { indexRecord, orderCreated, type TestIndex, testIndex } from '../support/records.ts'
import { start } from './events.ts'

describe('reads of the index, about dead letters', () => {
  let index: TestIndex
  beforeEach(() => {
    index = testIndex({ segmentEvents: 20 })
  })
  afterEach(() => index.close())

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
