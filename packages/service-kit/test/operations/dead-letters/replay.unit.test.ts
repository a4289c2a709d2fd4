import { randomUUID } from 'node:crypto'
import { completeEnvelope, type IdSource, parseEnvelope, type ReceivedEnvelope } from '@orderflow/envelope'
import { headerOf, type LogRecord, positionText, whereIs } from '@orderflow/kafka-log'
import { expect } from 'chai'
import { type Entry, readDeadLetters } from '../../../src/operations/dead-letters/entries.ts'
import type { Published, ReplayIntent, ReplayJournal } from '../../../src/operations/dead-letters/publish.ts'
import { deadLetterEnds } from '../../../src/operations/dead-letters/records.ts'
import { type Outcome, replayEntries } from '../../../src/operations/dead-letters/replay.ts'
import type { ReplayRecord } from '../../../src/operations/dead-letters/replay-record.ts'
import { lastResortDeadLetter } from '../../../src/stream/dead-letters/dead-letter.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { createSigner, createTrust, type Trust, type TrustOptions } from '../../../src/trust/trust.ts'
import { openTrust as trust } from '../../support/open-trust.ts'
import { bytesOf, event, type Failed, fail, note } from './records.ts'

describe('replayDeadLetters', () => {
  let log: FakeLog
  beforeEach(() => {
    log = new FakeLog()
  })
  const entries = async () => (await readDeadLetters(log)).entries

  const value = bytesOf(event)

  async function replay(chosen: Entry[], options = {}): Promise<Record<string, Outcome['result'][]>> {
    const outcomes: Outcome[] = []
    for await (const outcome of replayEntries(log, publish, chosen, { trust, ...options })) outcomes.push(outcome)
    const byApp = Map.groupBy(outcomes, ({ entry }) => entry.app)
    return Object.fromEntries([...byApp].map(([app, own]) => [app, own.map(({ result }) => result)]))
  }
  async function publish({ origin, of, record, ...content }: ReplayRecord) {
    const as = positionText(log.append({ ...origin, ...content }))
    note(log, of, as, record)
    return { result: 'replayed' as const, as }
  }
  const published = () => log.records.filter(({ topic }) => topic === 'orderevents')

  it('publishes one record for an event that failed in two apps, even if there are more events than one batch holds', async () => {
    for (const app of ['order-service', 'payment-service']) {
      for (let offset = 1; offset <= 60; offset += 1) fail(log, app, offset, 'handler-error', { value })
    }
    const all = Array.from({ length: 60 }, () => 'replayed')
    expect(await replay(await entries())).to.deep.equal({ 'order-service': all, 'payment-service': all })
    expect(published()).to.have.length(60)
    const done = all.map(() => 'done')
    expect(await replay(await entries())).to.deep.equal({ 'order-service': done, 'payment-service': done })
    expect(published()).to.have.length(60)
  })

  it('refuses an event only for the app whose data contradicts the event, in any order of the apps', async () => {
    fail(log, 'order-service', 1, 'handler-error', { value })
    for (let offset = 2; offset <= 70; offset += 1) fail(log, 'order-service', offset)
    fail(log, 'payment-service', 1, 'conflicting-order', { value })
    const all = await entries()
    const ours = all.filter(({ origin }) => origin.offset === '1')
    for (const chosen of [all, all.toReversed(), ours, ours.toReversed()]) {
      const { 'order-service': order, 'payment-service': payment } = await replay(chosen, { dryRun: true })
      expect([order?.filter((result) => result !== 'refused'), payment]).to.deep.equal([['ready'], ['refused']])
    }
    expect(published()).to.have.length(0)
    expect(await replay(ours)).to.deep.equal({ 'order-service': ['replayed'], 'payment-service': ['refused'] })
    expect(published()).to.have.length(1)
  })

  it('gives the dead letter’s detail as the reason for a refusal, and masks personal data', async () => {
    fail(log, 'order-service', 1, 'room-taken', { value, detail: 'Ada Lovelace has this room' })
    for await (const outcome of replayEntries(log, publish, await entries(), { trust }))
      expect(outcome).to.deep.include({
        result: 'refused',
        why: [
          'room-taken: *** *** has this room; a rule of the service refuses the event; edit it before you replay it',
        ],
      })
  })

  it('replays all entries except those of a missing partition, as the earlier dry run reported', async () => {
    fail(log, 'order-service', 1, 'handler-error', { value })
    fail(log, 'order-service', 0, 'handler-error', { value, partition: 99 })
    fail(log, 'order-service', 2, 'handler-error', { value })
    expect(await replay(await entries(), { dryRun: true })).to.deep.equal({
      'order-service': ['ready', 'refused', 'ready'],
    })
    expect(published()).to.have.length(0)
    expect(await replay(await entries())).to.deep.equal({ 'order-service': ['replayed', 'refused', 'replayed'] })
    expect(published()).to.have.length(2)
  })

  it('reports the replayed entries, and then throws the failure that ended the other replays', async () => {
    for (const [offset, key] of [
      [1, 'k'],
      [2, 'k'],
      [3, 'other'],
      [4, 'k'],
    ] as const) {
      fail(log, 'order-service', offset, 'handler-error', { value, key })
    }
    const told: string[] = []
    const failing = async (replay: ReplayRecord) => {
      if (replay.of === 'orderevents/0/2') throw new Error('the broker is away')
      return await publish(replay)
    }
    const all = (async () => {
      for await (const { entry, result } of replayEntries(log, failing, await entries(), { trust })) {
        told.push(`${entry.origin.offset} ${result}`)
      }
    })()
    expect(await all.catch((error: Error) => error.message)).to.equal('the broker is away')
    expect(told).to.deep.equal(['1 replayed', '3 replayed'])
  })

  it('publishes records of one key in the sequence of their dead letters', async () => {
    for (const offset of [1, 2, 3]) fail(log, 'order-service', offset, 'handler-error', { value })
    fail(log, 'order-service', 4, 'handler-error', { value, key: 'other' })
    const slow = async (replay: ReplayRecord) => {
      const offset = Number(replay.of.slice(-1))
      for (let turn = offset; turn < 4; turn += 1) await new Promise(setImmediate)
      return await publish(replay)
    }
    for await (const { result } of replayEntries(log, slow, await entries(), { trust })) {
      expect(result).to.equal('replayed')
    }
    const origins = published().map((record) => headerOf(record, 'replayed-from'))
    expect(origins).to.deep.equal([4, 1, 2, 3].map((offset) => `orderevents/0/${offset}`))
  })

  describe('an envelope without ids', () => {
    const edited = bytesOf({ ...event, Payload: { ...event.Payload, Total: 2 } })
    const key = Buffer.from('k')
    /** Returns the ids that a receiver derives from the published record. */
    const idsOf = (options = {}) => {
      const record = published().at(-1) as LogRecord
      const { Id, CorrelationId, TraceId } = completeEnvelope(parseEnvelope(record.value), record)
      return { Id, CorrelationId, TraceId, ...options }
    }
    const derived = (source: IdSource) => {
      const { Id, CorrelationId, TraceId } = completeEnvelope({} as ReceivedEnvelope, source)
      return { Id, CorrelationId, TraceId }
    }

    it('an envelope without ids is replayed unchanged, because receivers derive the same ids from its bytes', async () => {
      fail(log, 'order-service', 1, 'handler-error', { value })
      await replay(await entries())
      expect(published()[0]?.value).to.deep.equal(value)
      expect(idsOf()).to.deep.equal(derived({ value, key }))
    })

    for (const [what, failed] of [
      ['an envelope', value],
      ['bytes that are not an envelope', Buffer.from('{')],
    ] as const) {
      it(`gets the failed event’s ids if it replaces ${what}`, async () => {
        fail(log, 'order-service', 1, 'invalid-payload', { value: failed })
        await replay(await entries(), { edited: Buffer.concat([Buffer.from('\ufeff \n'), edited]) })
        expect(idsOf()).to.deep.equal(derived({ value: failed, key }))
        expect(parseEnvelope(published()[0]?.value as Buffer).Payload).to.include({ Total: 2 })
      })
    }

    it('an edited envelope without ids gets the ids in the envelope of the failed event', async () => {
      const ids = { Id: randomUUID(), CorrelationId: randomUUID(), TraceId: randomUUID() }
      fail(log, 'order-service', 1, 'invalid-payload', { value: bytesOf({ ...event, ...ids, Version: 'one' }) })
      await replay(await entries(), { edited })
      expect(idsOf()).to.deep.equal(ids)
    })
  })

  describe('an edited event', () => {
    const orderId = randomUUID()
    const corrected = bytesOf({ ...event, Payload: { ...event.Payload, OrderId: orderId } })
    /** Returns the key of the published record, and the Id of its event. */
    async function replayed(failed: Failed) {
      log = new FakeLog()
      fail(log, 'order-service', 1, 'handler-error', failed)
      const all: ReplayRecord[] = []
      const collect = async (replay: ReplayRecord) => {
        all.push(replay)
        return { result: 'replayed' as const, as: 'orderevents/0/7' }
      }
      const publishers = { outside: { orderevents: [], parcels: [] }, services: {} }
      const file = { unlisted: 'accept' as const, publishers: {} }
      const open = createTrust({ publishers, file, signer: undefined, signedSince: Number.NEGATIVE_INFINITY })
      for await (const outcome of replayEntries(log, collect, await entries(), { trust: open, edited: corrected }))
        expect(outcome.result).to.equal('replayed')
      const [replay] = all
      if (!replay) throw new Error('nothing was published')
      const { Id } = completeEnvelope(parseEnvelope(replay.value), { value: replay.value, key: replay.key })
      return { key: replay.key?.toString(), Id }
    }

    it('keeps its ids, and gets a new key if the fields of the key were edited', async () => {
      const key = event.Payload.OrderId
      const { Id } = completeEnvelope({} as ReceivedEnvelope, { value, key: Buffer.from(key) })
      expect(await replayed({ value, key })).to.deep.equal({ key: orderId, Id })
    })

    it('keeps a key that its publisher chose', async () => {
      expect((await replayed({ value, key: 'k' })).key).to.equal('k')
      expect((await replayed({ value: Buffer.from('{'), key: 'k' })).key).to.equal('k')
      expect((await replayed({ value: Buffer.alloc(0), key: event.Payload.OrderId })).key).to.equal(
        event.Payload.OrderId,
      )
    })

    it('gets a missing key only if the failed event lacked a field of the key', async () => {
      expect((await replayed({ value, key: '' })).key).to.equal(undefined)
      const { OrderId: _, ...Payload } = event.Payload
      expect((await replayed({ value: bytesOf({ ...event, Payload }), key: '' })).key).to.equal(orderId)
    })

    it('keeps its key on an undeclared topic', async () => {
      const key = event.Payload.OrderId
      expect((await replayed({ value, key, topic: 'parcels' })).key).to.equal(key)
    })
  })

  it('replays each of two dead letters whose records had the same position', async () => {
    for (const arrivedAt of [1_000, 2_000]) fail(log, 'order-service', 1, 'handler-error', { value, arrivedAt })
    expect(await replay(await entries())).to.deep.equal({ 'order-service': ['replayed', 'replayed'] })
    expect(published()).to.have.length(2)
    expect(await replay(await entries())).to.deep.equal({ 'order-service': ['done', 'done'] })
  })

  it('keeps the origin that a record claims, even if no note confirms it', async () => {
    fail(log, 'order-service', 9, 'handler-error', { value, replayedFrom: 'orderevents/0/1' })
    await replay(await entries())
    expect(published().map((record) => headerOf(record, 'replayed-from'))).to.deep.equal(['orderevents/0/1'])
  })

  describe('two processes that replay the same dead letters', () => {
    it('publish an event only once if both have listed it before either of them replays it', async () => {
      for (let offset = 1; offset <= 60; offset += 1) fail(log, 'order-service', offset, 'handler-error', { value })
      const [readUpTo, listed] = [await deadLetterEnds(log), await entries()]
      await replay(listed)
      const results = await replay(listed, { readUpTo })
      expect(new Set(results['order-service'])).to.deep.equal(new Set(['done']))
      expect(published()).to.have.length(60)
    })

    it('publish an event only once if one process replays it while the other process’s command runs', async () => {
      for (let offset = 1; offset <= 60; offset += 1) fail(log, 'order-service', offset, 'handler-error', { value })
      const listed = await entries()
      const outcomes: Outcome[] = []
      for await (const outcome of replayEntries(log, publish, listed, { trust })) {
        // After the first batch of 50 events, the other process replays the last event.
        if (outcomes.length === 0) await replay(listed.slice(-1))
        outcomes.push(outcome)
      }
      expect(published()).to.have.length(60)
      expect(outcomes.at(-1)).to.deep.include({ result: 'done', as: 'orderevents/0/50' })
    })

    it('report the record that the other process published, even in a dry run or for an event that would be refused', async () => {
      fail(log, 'order-service', 1, 'conflicting-order', { value })
      const listed = await entries()
      note(log, 'orderevents/0/1', 'orderevents/0/7')
      for await (const outcome of replayEntries(log, publish, listed, { trust, dryRun: true })) {
        expect(outcome).to.deep.include({ result: 'done', as: 'orderevents/0/7' })
      }
    })

    it('find the other process’s replay even if the dead-letter topic was created again after the listing', async () => {
      fail(log, 'order-service', 1, 'handler-error', { value })
      const listed = await entries()
      note(log, 'orderevents/0/1', 'orderevents/0/7')
      const readUpTo = new Map([['orderevents.dead/0', 1_000n]])
      expect(await replay(listed, { readUpTo })).to.deep.equal({ 'order-service': ['done'] })
    })
  })

  describe('a replay of a given attempt', () => {
    async function failedAgain(): Promise<Entry> {
      fail(log, 'order-service', 1, 'handler-error', { value })
      note(log, 'orderevents/0/1', 'orderevents/0/7')
      fail(log, 'order-service', 7, 'handler-error', { value, replayedFrom: 'orderevents/0/1' })
      return (await entries())[0] as Entry
    }
    async function outcomeOf(entry: Entry, attempt: string): Promise<Outcome | undefined> {
      const attempts = new Map([[entry.id, attempt]])
      for await (const outcome of replayEntries(log, publish, [entry], { trust, attempts })) return outcome
      return undefined
    }

    it('publishes nothing if the given attempt was already replayed, even if a newer attempt is open', async () => {
      const outcome = await outcomeOf(await failedAgain(), 'orderevents/0/1')
      expect(outcome).to.deep.include({ result: 'done', as: 'orderevents/0/7' })
      expect(published()).to.have.length(0)
    })

    it('publishes the event if the given attempt is the newest', async () => {
      expect(await outcomeOf(await failedAgain(), 'orderevents/0/7')).to.deep.include({ result: 'replayed' })
    })

    it('refuses an unknown attempt', async () => {
      const outcome = await outcomeOf(await failedAgain(), 'orderevents/0/8')
      expect(outcome?.result === 'refused' && outcome.why.join()).to.contain('no attempt at orderevents/0/8')
    })
  })

  describe('a replay after a killed process', () => {
    const intents = new Map<string, ReplayIntent>()
    const journal: ReplayJournal = {
      begin(begun) {
        for (const intent of begun) if (!intents.has(intent.of)) intents.set(intent.of, intent)
      },
      begun: (of) => intents.get(of),
    }
    beforeEach(() => intents.clear())
    /** Publishes as `publishReplay` does, but fails before it writes the note, as if the process was killed. */
    const killed = async ({ origin, of: _, ...record }: ReplayRecord): Promise<never> => {
      log.append({ ...origin, ...record })
      throw new Error('killed')
    }
    const noteOrPublish = async (replay: ReplayRecord) => {
      if (replay.publishedAs === undefined) return await publish(replay)
      note(log, replay.of, replay.publishedAs)
      return { result: 'replayed' as const, as: replay.publishedAs }
    }
    async function run(publishing: (replay: ReplayRecord) => Promise<Published>): Promise<Outcome[]> {
      const outcomes: Outcome[] = []
      for await (const outcome of replayEntries(log, publishing, await entries(), { trust, journal }))
        outcomes.push(outcome)
      return outcomes
    }

    it('writes the missing notes, and does not publish the records again', async () => {
      for (const offset of [1, 2, 3]) {
        fail(log, 'order-service', offset, 'handler-error', { value, key: `k${offset}` })
      }
      expect(await run(killed).catch((error: Error) => error.message)).to.equal('killed')
      expect(published()).to.have.length(3)
      const outcomes = await run(noteOrPublish)
      expect(outcomes.map(({ result }) => result)).to.deep.equal(['replayed', 'replayed', 'replayed'])
      expect(outcomes.map((outcome) => 'as' in outcome && outcome.as)).to.have.members(
        published().map((record) => whereIs(record)),
      )
      expect(published()).to.have.length(3)
    })

    it('publishes the records that did not reach the log', async () => {
      fail(log, 'order-service', 1, 'handler-error', { value })
      const unsent = () => Promise.reject(new Error('killed'))
      await run(unsent).catch(() => {})
      const [intent] = intents.values()
      // Another publisher's record claims to be the replay.
      log.append({ topic: 'orderevents', value: '{}', headers: { 'replayed-from': 'orderevents/0/1' } })
      expect((await run(noteOrPublish))[0]?.result).to.equal('replayed')
      expect(published()).to.have.length(2)
      expect([...intents.values()]).to.deep.equal([intent])
    })
  })

  describe('an event in the name of one of our services', () => {
    const own = randomUUID()
    const ours = bytesOf({ ...event, AppId: own, AppName: 'shop' })
    const edited = bytesOf({ ...event, AppId: own, AppName: 'shop', Version: 1, Note: 'edited' })
    const signer = createSigner(['k'.repeat(32)])
    const trustWith = (changes: Partial<TrustOptions> = {}) =>
      createTrust({
        publishers: {
          outside: { orderevents: ['OrderCreated'] },
          services: { [own]: { name: 'shop', publishes: { orderevents: ['OrderCreated'] } } },
        },
        file: { unlisted: 'reject', publishers: {} },
        signer,
        signedSince: Number.NEGATIVE_INFINITY,
        ...changes,
      })
    /** Replays an event. Returns the record's signature, or the reason for the refusal. */
    async function replayed(
      value: Buffer,
      options: { signature?: string | undefined; edited?: Buffer; trust?: Trust; appendedAt?: number },
    ) {
      const { signature, trust = trustWith(), edited, appendedAt = 1_000 } = options
      log = new FakeLog()
      const { offset } = log.append({
        topic: 'orderevents',
        timestamp: 1_000,
        appendedAt,
        value,
        ...(signature && { headers: { signature } }),
      })
      fail(log, 'order-service', Number(offset), 'untrusted', { value, arrivedAt: 1_000 })
      for await (const outcome of replayEntries(log, publish, await entries(), { trust, edited })) {
        if (outcome.result === 'refused') return outcome.why.join()
      }
      return headerOf(published().at(-1) as LogRecord, 'signature')
    }

    it('an event of our services keeps its signature', async () => {
      expect(await replayed(ours, { signature: signer.sign(ours) })).to.equal(signer.sign(ours))
    })

    it('refuses an event of our services if its signature is missing', async () => {
      for (const signature of [undefined, signer.sign(edited)]) {
        expect(await replayed(ours, { signature })).to.contain(
          'untrusted: its AppId is that of shop, but the signature is missing or wrong',
        )
      }
    })

    it('an edited event of our services is signed again', async () => {
      const signature = await replayed(ours, { edited, signature: signer.sign(ours) })
      expect(signature).to.equal(signer.sign(published().at(-1)?.value as Buffer))
    })

    it('an unsigned event of our services is signed only if it arrived before the start of signing', async () => {
      expect(await replayed(ours, { trust: trustWith({ signedSince: 1_001 }) })).to.equal(signer.sign(ours))
      expect(await replayed(ours, { trust: trustWith({ signedSince: 1_000 }) })).to.contain(
        'signature is missing or wrong',
      )
    })

    it('refuses an unsigned event of our services if only the publisher’s date, and not the arrival, is before the start of signing', async () => {
      const trust = trustWith({ signedSince: 1_001 })
      expect(await replayed(ours, { trust, appendedAt: Number.NaN })).to.contain('signature is missing or wrong')
    })

    it('an event of our services is replayed unsigned if no key is set', async () => {
      const trust = trustWith({ signer: undefined })
      expect(await replayed(ours, { trust })).to.equal(undefined)
      expect(await replayed(ours, { trust, edited, signature: 'x'.repeat(43) })).to.equal(undefined)
    })

    it('an event of an outside application that the trust file allows gets no signature', async () => {
      const trust = trustWith({ file: { unlisted: 'accept', publishers: {} } })
      expect(await replayed(value, { trust, edited: value })).to.equal(undefined)
      expect(await replayed(value, {})).to.contain('is not listed in trust.json')
    })

    it('an event whose record the log has deleted keeps the signature in its dead letter', async () => {
      const deadLetter = { topic: 'orderevents.dead', value: ours }
      log.append({
        ...deadLetter,
        headers: {
          signature: signer.sign(ours) ?? '',
          'deadletter-app': 'order-service',
          'deadletter-reason': 'handler-error',
          'deadletter-topic': 'orderevents',
          'deadletter-partition': '0',
          'deadletter-offset': '77',
        },
      })
      await replay(await entries(), { trust: trustWith() })
      expect(headerOf(published()[0] as LogRecord, 'signature')).to.equal(signer.sign(ours))
    })
  })

  describe('a dead letter without its event', () => {
    const cut = (offset: number, bytes = value) =>
      fail(log, 'order-service', offset, 'handler-error', { value: bytes, isCut: true })
    const refusals = async (edited?: Buffer) => {
      const whys: string[] = []
      for await (const outcome of replayEntries(log, publish, await entries(), { trust, edited })) {
        if (outcome.result === 'refused') whys.push(...outcome.why)
      }
      return whys
    }

    it('replays the event from the log if the dead letter does not contain it', async () => {
      const { offset } = log.append({ topic: 'orderevents', key: 'k', value, headers: { 'x-own': '1' } })
      cut(Number(offset))
      expect(await replay(await entries())).to.deep.equal({ 'order-service': ['replayed'] })
      const [, again] = published()
      expect([again?.key?.toString(), again?.value, again && headerOf(again, 'x-own')]).to.deep.equal(['k', value, '1'])
    })

    it('refuses a dead letter whose event is missing in the log, but accepts an event from the operator', async () => {
      log.append({ topic: 'orderevents', value: '{}' })
      cut(0)
      cut(7)
      const why = 'the log has deleted the event, and the dead letter does not contain it'
      expect(await refusals()).to.deep.equal([why, why])
      expect(await refusals(value)).to.deep.equal([])
    })

    it('replays the event from the log even if the service could not read the record', async () => {
      const { offset } = log.append({ topic: 'orderevents', key: 'k', value, timestamp: 1_000_000 })
      const position = { topic: 'orderevents', partition: 0, offset }
      const deadLetter = lastResortDeadLetter(position, 'internal-error', 'order-service', new Date())
      log.append({ ...deadLetter, timestamp: 1_000_001 })
      expect(await replay(await entries())).to.deep.equal({ 'order-service': ['replayed'] })
      expect(published()[1]?.value).to.deep.equal(value)
    })

    it('refuses a dead letter if the topic was created again and has a newer record at the same position', async () => {
      log.append({ topic: 'orderevents', key: 'k', value, timestamp: 1_000_000_000 })
      const position = { topic: 'orderevents', partition: 0, offset: '0' }
      const deadLetter = lastResortDeadLetter(position, 'internal-error', 'order-service', new Date())
      log.append({ ...deadLetter, timestamp: 1_000_000 })
      expect((await refusals()).join()).to.contain('the log has deleted the event')
    })

    it('checks an event from the log like any other event', async () => {
      log.append({ topic: 'orderevents', value: '{' })
      cut(0, Buffer.from('{'))
      expect((await refusals()).join()).to.contain('not-json')
    })
  })
})
