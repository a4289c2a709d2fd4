import { randomUUID } from 'node:crypto'
import { completeEnvelope, deadLetterTopic, type FullEvent, type ReceivedEnvelope } from '@orderflow/envelope'
import { type LogRecord, positionText, type RecordPosition, whereIs } from '@orderflow/kafka-log'
import { expect } from 'chai'
import { type RebuildCounts, rebuildTopic } from '../../src/operations/rebuild.ts'
import { OperationError } from '../../src/operations/terminal.ts'
import { SidecarError } from '../../src/sidecar/sidecar.ts'
import { deadLetterOf, lastResortDeadLetter } from '../../src/stream/dead-letters/dead-letter.ts'
import { FakeLog } from '../../src/testing/fake-log.ts'
import { createSigner, createTrust } from '../../src/trust/trust.ts'
import { openTrust } from '../support/open-trust.ts'
import { virtualTime } from '../support/virtual-time.ts'

type Created = FullEvent<'OrderCreated'>

const created = (total: number, changes: object = {}) =>
  JSON.stringify({
    AppId: randomUUID(),
    AppName: 'older-application',
    Version: 1,
    Name: 'OrderCreated',
    CreationDate: '2026-11-21T10:00:00Z',
    Payload: { OrderId: randomUUID(), CustomerName: 'Ada', CustomerTaxId: 'T', Total: total },
    ...changes,
  })

describe('rebuildTopic', () => {
  let log: FakeLog
  let seen: Created[]
  let waits: string[]
  let take: (event: Created) => Promise<boolean>
  const time = virtualTime()
  beforeEach(() => {
    log = new FakeLog()
    seen = []
    waits = []
    take = async (event) => {
      seen.push(event)
      return true
    }
    log.append({ topic: 'orderevents.dead', value: 'none of ours' })
  })

  const append = (value: string, headers = {}) => log.append({ topic: 'orderevents', value, headers })
  const totals = () => seen.map(({ Payload }) => Payload.Total)

  function rebuild(
    range = {},
    onProgress: (counts: RebuildCounts, left: bigint) => void = () => {},
    trust = openTrust,
  ) {
    const handlers = { OrderCreated: (event: Created) => take(event) }
    return rebuildTopic('orderevents', handlers, {
      app: 'order-service',
      trust,
      refusals: new Set(['conflicting-order']),
      log,
      range,
      onProgress: (_topic, counts, left) => onProgress(counts, left),
      onWait: (reason) => waits.push(reason),
    })
  }

  function deadLetter(position: RecordPosition, app: string, origin = position): void {
    const { value, timestamp: arrivedAt } = log.records.find(
      (one) => whereIs(one) === positionText(position),
    ) as LogRecord
    const unknown = { key: undefined, escapedKey: undefined, traceparent: undefined, causedAt: undefined }
    const delivery = { entryId: '', ...unknown, signature: undefined, arrivedAt, appendedAt: arrivedAt }
    const fault = { code: 'conflicting-order', detail: '' }
    const event = deadLetterOf({ ...delivery, position, origin, value }, fault, app, new Date())
    log.append({ ...event, topic: deadLetterTopic('orderevents') })
  }

  it('passes all events to the handlers in the order of arrival, and counts the outcomes', async () => {
    for (const [index, total] of [1, 2, 3, 4].entries()) {
      log.append({ topic: 'orderevents', partition: index % 3, timestamp: total, value: created(total) })
    }
    append(created(9, { Name: 'OrderShipped' }))
    take = async (event) => {
      seen.push(event)
      return event.Payload.Total > 2
    }
    expect(await rebuild()).to.deep.equal({ read: 5, applied: 2, unchanged: 2, unhandled: 1, aside: {}, faulty: {} })
    expect(totals()).to.deep.equal([1, 2, 3, 4])
  })

  it('passes records of one key in sequence, and records of other keys at the same time', async () => {
    for (const [total, partition, key] of [
      [1, 0, 'a'],
      [2, 0, 'a'],
      [3, 1, 'b'],
      [4, 1, undefined],
    ] as const) {
      log.append({ topic: 'orderevents', partition, timestamp: total, value: created(total), ...(key && { key }) })
    }
    let failures = 1
    take = async (event) => {
      if (event.Payload.Total === 1) for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate)
      if (event.Payload.Total === 1 && failures-- > 0) throw new SidecarError('write state', new Error('down'))
      seen.push(event)
      return true
    }
    const rebuilt = rebuild()
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate)
    await time.pass(500)
    expect(await rebuilt).to.include({ read: 4, applied: 4 })
    expect(totals()).to.deep.equal([3, 4, 1, 2])
  })

  it('reads only the records that arrived between two given times', async () => {
    for (let time = 1; time <= 6; time += 1) {
      log.append({ topic: 'orderevents', timestamp: time, value: created(time) })
    }
    await rebuild({ from: new Date(3), to: new Date(5) })
    expect(totals()).to.deep.equal([3, 4])
  })

  it('reads all records between two given times, although a clock was ahead for a while', async () => {
    for (const time of [1, 2, 9, 3, 4, 5, 6])
      log.append({ topic: 'orderevents', timestamp: time, value: created(time) })
    await rebuild({ from: new Date(2), to: new Date(5) })
    expect(totals()).to.deep.equal([2, 9, 3, 4])
  })

  it('accepts events with amounts that an earlier release allowed', async () => {
    append(created(1).replace('"Total":1', '"Total":999999999999.999999'))
    await rebuild()
    expect(totals()).to.deep.equal([1e12])
  })

  it('skips events in dead letters of this service, and applies events in dead letters of other services', async () => {
    deadLetter(append(created(1)), 'order-service')
    deadLetter(append(created(2)), 'payment-service')
    const counts = await rebuild()
    expect(totals()).to.deep.equal([2])
    expect(counts).to.deep.include({ read: 2, applied: 1, aside: { 'conflicting-order': 1 } })
  })

  it('applies a replayed event with the ids of its first record, and skips a replay that failed again', async () => {
    const reduced = created(1)
    const first = append(reduced)
    deadLetter(first, 'order-service')
    append(reduced, { 'replayed-from': 'orderevents/0/0' })
    const again = append(created(2), { 'replayed-from': 'orderevents/0/0' })
    deadLetter(again, 'order-service', first)
    const counts = await rebuild()
    expect([counts.applied, counts.aside]).to.deep.equal([1, { 'conflicting-order': 2 }])
    const replayed = seen[0]?.Id
    log.records.length = 0
    log.append({ topic: 'orderevents.dead' })
    append(reduced)
    seen = []
    await rebuild()
    expect(seen[0]?.Id).to.equal(replayed)
  })

  describe('after the topic was created again', () => {
    /** Removes the records of the topic, but not its dead letters, as if the topic was deleted and created again. */
    function createAgain(): void {
      const kept = log.records.filter(({ topic }) => topic !== 'orderevents')
      log.records.splice(0, log.records.length, ...kept)
    }
    function deadLetterOfUnread(timestamp: number): void {
      const position = { topic: 'orderevents', partition: 0, offset: '0' }
      const unread = lastResortDeadLetter(position, 'internal-error', 'order-service', new Date(timestamp))
      log.append({ ...unread, timestamp })
    }

    it('applies a newer event at the position of a dead letter without a record id', async () => {
      deadLetterOfUnread(1_000)
      log.append({ topic: 'orderevents', timestamp: 1_000_000, value: created(2) })
      expect([(await rebuild()).aside, totals()]).to.deep.equal([{}, [2]])
    })

    it('skips an older event at the position of a dead letter without a record id', async () => {
      log.append({ topic: 'orderevents', timestamp: 900, value: created(1) })
      deadLetterOfUnread(1_000)
      expect([(await rebuild()).aside, totals()]).to.deep.equal([{ 'internal-error': 1 }, []])
    })

    it('applies a valid event at the position of an old dead letter', async () => {
      deadLetter(append(created(1)), 'order-service')
      createAgain()
      append(created(2))
      expect([(await rebuild()).aside, totals()]).to.deep.equal([{}, [2]])
    })
  })

  it('derives the missing ids of events from their content', async () => {
    const reduced = created(1)
    append(reduced)
    append(reduced, { 'replayed-from': 'orderevents/0/0' })
    await rebuild()
    const { Id, TraceId } = completeEnvelope({} as ReceivedEnvelope, { value: Buffer.from(reduced) })
    expect(seen.map((event) => [event.Id, event.TraceId])).to.deep.equal([
      [Id, TraceId],
      [Id, TraceId],
    ])
  })

  it('rejects forged events of our services, and does not check the rights of other publishers', async () => {
    const own = randomUUID()
    const signer = createSigner(['k'.repeat(32)])
    const trust = createTrust({
      publishers: {
        outside: { orderevents: ['OrderCreated'] },
        services: { [own]: { name: 'shop', publishes: { orderevents: ['OrderCreated'] } } },
      },
      file: { unlisted: 'reject', publishers: {} },
      signer,
      signedSince: 100,
    })
    const ours = (total: number) => created(total, { AppId: own, AppName: 'shop' })
    const signed = ours(1)
    const at = (timestamp: number, value: string, headers = {}) =>
      log.append({ topic: 'orderevents', timestamp, value, headers })
    at(99, ours(0))
    at(100, signed, { signature: signer.sign(Buffer.from(signed)) })
    at(101, ours(2), { signature: signer.sign(Buffer.from(signed)) })
    at(102, ours(3))
    at(103, created(4))
    log.append({ topic: 'orderevents', timestamp: 99, appendedAt: Number.NaN, value: ours(5) })
    const counts = await rebuild({}, () => {}, trust)
    expect(totals()).to.deep.equal([0, 1, 4])
    expect(counts).to.deep.include({ read: 6, applied: 3, faulty: { untrusted: 3 } })
  })

  it('counts invalid records and continues with the next record', async () => {
    append('{')
    append('')
    append(created(-1))
    append(created(1))
    append(created(2))
    take = async (event) => {
      seen.push(event)
      if (event.Payload.Total === 1) throw Object.assign(new Error('x'), { code: 'conflicting-order' })
      return true
    }
    const { faulty, applied } = await rebuild()
    expect(faulty).to.deep.equal({ 'not-json': 2, 'invalid-payload': 1, 'conflicting-order': 1 })
    expect(applied).to.equal(1)
  })

  it('waits while the store is unavailable, and then continues', async () => {
    append(created(1))
    const calm = take
    take = async () => {
      take = calm
      throw new SidecarError('write state', new Error('down'))
    }
    const counts = rebuild()
    await time.pass(500)
    expect((await counts).applied).to.equal(1)
    expect(waits).to.deep.equal(['write state: down'])
  })

  it('reports its progress, and does not read records that arrive during the rebuild', async () => {
    for (let count = 0; count < 1_200; count += 1) append(created(count))
    const told: string[] = []
    await rebuild({}, ({ read }, left) => {
      if (read === 0) append(created(9_999))
      told.push(`${read} read, at most ${left} to go`)
    })
    expect(told[0]).to.equal('0 read, at most 1200 to go')
    expect(told[1]).to.match(/^([1-9]\d*) read, at most (?!1200|0)\d+ to go$/)
    expect(told.at(-1)).to.equal('1200 read, at most 0 to go')
    expect(totals()).not.to.include(9_999)
  })

  it('gives up after the store was unavailable for a minute, and reports this', async () => {
    append(created(1))
    take = () => Promise.reject(new SidecarError('write state', new Error('down')))
    let error: unknown
    rebuild().catch((thrown: unknown) => {
      error = thrown
    })
    for (let passed = 0; passed < 60_000; passed += 500) await time.pass(500)
    expect(error).to.equal(undefined)
    await time.pass(500)
    expect(error).to.be.instanceOf(OperationError).with.property('message').that.contains('write state: down')
  })
})
