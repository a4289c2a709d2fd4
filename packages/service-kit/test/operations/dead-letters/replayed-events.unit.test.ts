import { randomUUID } from 'node:crypto'
import { completeEnvelope, type IdSource, parseEnvelope, type ReceivedEnvelope } from '@orderflow/envelope'
import { headerOf, type LogRecord } from '@orderflow/kafka-log'
import { expect } from 'chai'
import { replayEntries } from '../../../src/operations/dead-letters/replay.ts'
import type { ReplayRecord } from '../../../src/operations/dead-letters/replay-record.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { createSigner, createTrust, type Trust, type TrustOptions } from '../../../src/trust/trust.ts'
import { bytesOf, event, type Failed, fail } from './records.ts'
import { replays, value } from './replays.ts'

describe('replayDeadLetters, about the events', () => {
  const tested = replays()
  const { entries, publish, replay, published } = tested

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
      fail(tested.log, 'order-service', 1, 'handler-error', { value })
      await replay(await entries())
      expect(published()[0]?.value).to.deep.equal(value)
      expect(idsOf()).to.deep.equal(derived({ value, key }))
    })

    for (const [what, failed] of [
      ['an envelope', value],
      ['bytes that are not an envelope', Buffer.from('{')],
    ] as const) {
      it(`gets the failed event’s ids if it replaces ${what}`, async () => {
        fail(tested.log, 'order-service', 1, 'invalid-payload', { value: failed })
        await replay(await entries(), { edited: Buffer.concat([Buffer.from('\ufeff \n'), edited]) })
        expect(idsOf()).to.deep.equal(derived({ value: failed, key }))
        expect(parseEnvelope(published()[0]?.value as Buffer).Payload).to.include({ Total: 2 })
      })
    }

    it('an edited envelope without ids gets the ids in the envelope of the failed event', async () => {
      const ids = { Id: randomUUID(), CorrelationId: randomUUID(), TraceId: randomUUID() }
      fail(tested.log, 'order-service', 1, 'invalid-payload', { value: bytesOf({ ...event, ...ids, Version: 'one' }) })
      await replay(await entries(), { edited })
      expect(idsOf()).to.deep.equal(ids)
    })
  })

  describe('an edited event', () => {
    const orderId = randomUUID()
    const corrected = bytesOf({ ...event, Payload: { ...event.Payload, OrderId: orderId } })
    /** Returns the key of the published record, and the Id of its event. */
    async function replayed(failed: Failed) {
      tested.log = new FakeLog()
      fail(tested.log, 'order-service', 1, 'handler-error', failed)
      const all: ReplayRecord[] = []
      const collect = async (replay: ReplayRecord) => {
        all.push(replay)
        return { result: 'replayed' as const, as: 'orderevents/0/7' }
      }
      const publishers = { outside: { orderevents: [], parcels: [] }, services: {} }
      const file = { unlisted: 'accept' as const, publishers: {} }
      const open = createTrust({ publishers, file, signer: undefined, signedSince: Number.NEGATIVE_INFINITY })
      for await (const outcome of replayEntries(tested.log, collect, await entries(), {
        trust: open,
        edited: corrected,
      }))
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
      tested.log = new FakeLog()
      const { offset } = tested.log.append({
        topic: 'orderevents',
        timestamp: 1_000,
        appendedAt,
        value,
        ...(signature && { headers: { signature } }),
      })
      fail(tested.log, 'order-service', Number(offset), 'untrusted', { value, arrivedAt: 1_000 })
      for await (const outcome of replayEntries(tested.log, publish, await entries(), { trust, edited })) {
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
      tested.log.append({
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
})
