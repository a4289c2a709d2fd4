import { statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { positionText } from '@orderflow/kafka-log'
import { type DeadLetterRecord, entriesOf, readRecord } from '@orderflow/service-kit/log'
import { expect } from 'chai'
import fc from 'fast-check'
import type { DeadLetterEntry } from '../../src/api/dead-letters.ts'
import type { IndexRecord } from '../../src/index/record.ts'
import { causesOf, entryView } from '../../src/model/dead-letters.ts'
import { indexRecord, logRecord, type RecordOptions, type TestIndex, testIndex } from '../support/records.ts'

const topic = 'orderevents.dead'
const guid = (number: number) => `9a1e6f0a-6f0f-5a51-8f5b-${String(number).padStart(12, '0')}`

const deadLetter = (of: number, over: Record<string, string> = {}): RecordOptions => ({
  topic,
  headers: {
    'deadletter-app': 'order-service',
    'deadletter-reason': 'invalid-payload',
    'deadletter-topic': 'orderevents',
    'deadletter-partition': '0',
    'deadletter-offset': String(of),
    ...over,
  },
})
const note = (of: number, as: number, over: Record<string, string> = {}): RecordOptions => ({
  topic,
  headers: { 'replay-of': `orderevents/0/${of}`, 'replayed-as': `orderevents/0/${as}`, ...over },
})
const acceptance = (app: string, of: number, over: Record<string, string>): RecordOptions => ({
  topic,
  headers: { 'accepted-by': app, 'accepted-position': `orderevents/0/${of}`, ...over },
})

describe('the list of dead letters', () => {
  let index: TestIndex
  let written: number
  beforeEach(() => {
    index = testIndex({ segmentEvents: 50 })
    written = 0
  })
  afterEach(() => index.close())

  const start = Date.UTC(2026, 0, 1)
  function add(...all: RecordOptions[]): void {
    const records: IndexRecord[] = all.map((one) =>
      indexRecord('{', { ...one, offset: written++, at: start + written }),
    )
    index.add(...records)
  }
  const page = (state?: DeadLetterEntry['state'], cursor?: number, limit = 10) =>
    index.reads.deadLetterPage(undefined, state, limit, cursor)
  const offsetsIn = (items: readonly DeadLetterEntry[]) => items.map(({ origin }) => Number(origin.offset))
  const all = () => index.reads.deadLetterPage(undefined, undefined, 1_000).items

  it('equals the list that service-kit makes from all records at once, after each batch', () => {
    const small = fc.nat(4)
    const record = fc.option(small.map(guid), { nil: undefined })
    const named = (name: string, id: string | undefined) => (id === undefined ? {} : { [name]: id })
    const letters = fc
      .record({ of: small, app: fc.constantFrom('a', 'b'), record, replayed: fc.option(small, { nil: undefined }) })
      .map(({ of, app, record, replayed }) =>
        deadLetter(of, {
          ...{ 'deadletter-app': app, ...named('deadletter-record', record) },
          ...(replayed !== undefined && { 'deadletter-replay': `orderevents/0/${replayed}` }),
        }),
      )
    const notes = fc
      .record({ of: small, as: small, ofRecord: record, asRecord: record })
      .map(({ of, as, ofRecord, asRecord }) =>
        note(of, as, { ...named('replay-of-record', ofRecord), ...named('replayed-as-record', asRecord) }),
      )
    const acceptances = fc
      .record({ app: fc.constantFrom('a', 'b'), of: small, record })
      .map(({ app, of, record }) => acceptance(app, of, named('accepted-record', record)))
    const batches = fc.array(fc.array(fc.oneof(letters, letters, notes, acceptances), { minLength: 1, maxLength: 6 }), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(batches, fc.boolean(), (some, isRestarted) => {
        index.close()
        index = testIndex({ segmentEvents: 5 })
        written = 0
        const read: DeadLetterRecord[] = []
        for (const batch of some) {
          const first = written
          add(...batch)
          for (const [step, one] of batch.entries()) {
            const record = readRecord(logRecord('{', { ...one, offset: first + step, at: start + first + step + 1 }))
            if (record.kind !== 'other') read.push(record)
          }
          if (isRestarted) index.reopen()
          // Without facts about the kind and faults of a dead letter, some fields are empty.
          const wanted = causesOf(entriesOf(read)).map((cause) => entryView(cause, () => undefined))
          const plain = ({ id, services, reason, origin, state, attempts }: DeadLetterEntry) => ({
            ...{ id, reason, origin, state, attempts },
            services: services.map(({ app, id }) => [app, id]),
          })
          expect(all().map(plain)).to.deep.equal(wanted.reverse().map(plain))
          const { groups } = index.reads.deadLetterGroups()
          const open = wanted.filter(({ state }) => state === 'open').length
          expect(groups.reduce((sum, one) => sum + one.entries, 0)).to.equal(wanted.length)
          expect(groups.reduce((sum, one) => sum + one.open, 0)).to.equal(open)
          expect(index.reads.deadLetterPage(undefined, 'open', 1).total).to.equal(open)
          const ids = wanted.flatMap(({ services }) => services.map(({ id }) => id))
          expect(index.reads.rawEntries(ids).entries.map(({ entry }) => entry.id)).to.have.members([...new Set(ids)])
        }
      }),
      { numRuns: 20 },
    )
  })

  it('returns each open entry once while others arrive and are replayed between pages', () => {
    add(...Array.from({ length: 95 }, (_, of) => deadLetter(of)))
    const seen: number[] = []
    const replayed: number[] = []
    for (let [cursor, step]: [number | undefined, number] = [undefined, 0]; ; step += 1) {
      const { items, next } = page('open', cursor)
      seen.push(...offsetsIn(items))
      if (next === null) break
      cursor = next
      // Replays three listed entries and three others, and adds three new ones.
      const now = [...seen.slice(-3), ...[0, 1, 2].map((other) => step * 3 + other)].filter(
        (of) => !replayed.includes(of),
      )
      add(...now.map((of) => note(of, 10_000 + of)), ...[0, 1, 2].map((other) => deadLetter(1_000 + 3 * step + other)))
      replayed.push(...now.filter((of) => !seen.includes(of)))
    }
    const open = Array.from({ length: 95 }, (_, of) => 94 - of).filter((of) => !replayed.includes(of))
    expect(seen).to.deep.equal(open)
  })

  it('forgets no dead letter, however many there are and however old they seem', () => {
    index.close()
    index = testIndex({ segmentEvents: 100, keepEvents: 200, keepMs: 1, now: () => start + 86_400_000 })
    for (let of = 0; of < 600; of += 50) {
      const apps = ['order-service', 'payment-service'] as const
      const both = (offset: number) => apps.map((app) => deadLetter(offset, { 'deadletter-app': app }))
      add(...Array.from({ length: 50 }, (_, step) => both(of + step)).flat())
      index.add(indexRecord('{', { ...deadLetter(100_000 + of), offset: written++, at: 0 }))
    }
    const { groups } = index.reads.deadLetterGroups()
    expect(groups.reduce((sum, { entries }) => sum + entries, 0)).to.equal(612)
    expect(page('open').total).to.equal(612)
  })

  it('stays complete after a restart, a damage of its file, and a new index', () => {
    add(...[0, 1, 2].map((of) => deadLetter(of)))
    expect(offsetsIn(all())).to.deep.equal([2, 1, 0])
    const file = join(index.folder, 'entries.sqlite')
    index.reopen()
    expect(offsetsIn(all())).to.deep.equal([2, 1, 0])
    index.reads.close()
    writeFileSync(file, 'not a database, but a text of some length, which replaces the header of the file'.repeat(80))
    index.reopen()
    expect(offsetsIn(all())).to.deep.equal([2, 1, 0])
    index.reads.close()
    truncateSync(file, Math.floor(statSync(file).size / 2))
    index.reopen()
    expect(offsetsIn(all())).to.deep.equal([2, 1, 0])
    // Another fingerprint of the rules removes all segments.
    index.reopen([])
    expect(all()).to.deep.equal([])
    written = 0
    add(...[7, 8].map((of) => deadLetter(of)))
    expect(offsetsIn(all())).to.deep.equal([8, 7])
  })

  it('contains an entry that services rejected three thousand times', () => {
    index.close()
    index = testIndex({ segmentEvents: 5_000 })
    for (let of = 0; of < 3; of += 1) add(...Array.from({ length: 1_000 }, () => deadLetter(7)))
    add(deadLetter(8))
    expect(all().map(({ origin, attempts }) => [positionText(origin), attempts.length])).to.deep.equal([
      ['orderevents/0/8', 1],
      ['orderevents/0/7', 1],
    ])
  })
})
