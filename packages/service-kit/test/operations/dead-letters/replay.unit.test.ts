import { headerOf } from '@orderflow/kafka-log'
import { expect } from 'chai'
import { replayEntries } from '../../../src/operations/dead-letters/replay.ts'
import type { ReplayRecord } from '../../../src/operations/dead-letters/replay-record.ts'
import { lastResortDeadLetter } from '../../../src/stream/dead-letters/dead-letter.ts'
import { openTrust as trust } from '../../support/open-trust.ts'
import { fail } from './records.ts'
import { replays, value } from './replays.ts'

describe('replayDeadLetters', () => {
  const tested = replays()
  const { entries, publish, replay, published } = tested

  it('publishes one record for an event that failed in two apps, even if there are more events than one batch holds', async () => {
    for (const app of ['order-service', 'payment-service']) {
      for (let offset = 1; offset <= 60; offset += 1) fail(tested.log, app, offset, 'handler-error', { value })
    }
    const all = Array.from({ length: 60 }, () => 'replayed')
    expect(await replay(await entries())).to.deep.equal({ 'order-service': all, 'payment-service': all })
    expect(published()).to.have.length(60)
    const done = all.map(() => 'done')
    expect(await replay(await entries())).to.deep.equal({ 'order-service': done, 'payment-service': done })
    expect(published()).to.have.length(60)
  })

  it('refuses an event only for the app whose data contradicts the event, in any order of the apps', async () => {
    fail(tested.log, 'order-service', 1, 'handler-error', { value })
    for (let offset = 2; offset <= 70; offset += 1) fail(tested.log, 'order-service', offset)
    fail(tested.log, 'payment-service', 1, 'conflicting-order', { value })
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
    fail(tested.log, 'order-service', 1, 'room-taken', { value, detail: 'Ada Lovelace has this room' })
    for await (const outcome of replayEntries(tested.log, publish, await entries(), { trust }))
      expect(outcome).to.deep.include({
        result: 'refused',
        why: [
          'room-taken: *** *** has this room; a rule of the service refuses the event; edit it before you replay it',
        ],
      })
  })

  it('replays all entries except those of a missing partition, as the earlier dry run reported', async () => {
    fail(tested.log, 'order-service', 1, 'handler-error', { value })
    fail(tested.log, 'order-service', 0, 'handler-error', { value, partition: 99 })
    fail(tested.log, 'order-service', 2, 'handler-error', { value })
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
      fail(tested.log, 'order-service', offset, 'handler-error', { value, key })
    }
    const told: string[] = []
    const failing = async (replay: ReplayRecord) => {
      if (replay.of === 'orderevents/0/2') throw new Error('the broker is away')
      return await publish(replay)
    }
    const all = (async () => {
      for await (const { entry, result } of replayEntries(tested.log, failing, await entries(), { trust })) {
        told.push(`${entry.origin.offset} ${result}`)
      }
    })()
    expect(await all.catch((error: Error) => error.message)).to.equal('the broker is away')
    expect(told).to.deep.equal(['1 replayed', '3 replayed'])
  })

  it('publishes records of one key in the sequence of their dead letters', async () => {
    for (const offset of [1, 2, 3]) fail(tested.log, 'order-service', offset, 'handler-error', { value })
    fail(tested.log, 'order-service', 4, 'handler-error', { value, key: 'other' })
    const slow = async (replay: ReplayRecord) => {
      const offset = Number(replay.of.slice(-1))
      for (let turn = offset; turn < 4; turn += 1) await new Promise(setImmediate)
      return await publish(replay)
    }
    for await (const { result } of replayEntries(tested.log, slow, await entries(), { trust })) {
      expect(result).to.equal('replayed')
    }
    const origins = published().map((record) => headerOf(record, 'replayed-from'))
    expect(origins).to.deep.equal([4, 1, 2, 3].map((offset) => `orderevents/0/${offset}`))
  })

  it('replays each of two dead letters whose records had the same position', async () => {
    for (const arrivedAt of [1_000, 2_000]) fail(tested.log, 'order-service', 1, 'handler-error', { value, arrivedAt })
    expect(await replay(await entries())).to.deep.equal({ 'order-service': ['replayed', 'replayed'] })
    expect(published()).to.have.length(2)
    expect(await replay(await entries())).to.deep.equal({ 'order-service': ['done', 'done'] })
  })

  it('keeps the origin that a record claims, even if no note confirms it', async () => {
    fail(tested.log, 'order-service', 9, 'handler-error', { value, replayedFrom: 'orderevents/0/1' })
    await replay(await entries())
    expect(published().map((record) => headerOf(record, 'replayed-from'))).to.deep.equal(['orderevents/0/1'])
  })

  describe('a dead letter without its event', () => {
    const cut = (offset: number, bytes = value) =>
      fail(tested.log, 'order-service', offset, 'handler-error', { value: bytes, isCut: true })
    const refusals = async (edited?: Buffer) => {
      const whys: string[] = []
      for await (const outcome of replayEntries(tested.log, publish, await entries(), { trust, edited })) {
        if (outcome.result === 'refused') whys.push(...outcome.why)
      }
      return whys
    }

    it('replays the event from the log if the dead letter does not contain it', async () => {
      const { offset } = tested.log.append({ topic: 'orderevents', key: 'k', value, headers: { 'x-own': '1' } })
      cut(Number(offset))
      expect(await replay(await entries())).to.deep.equal({ 'order-service': ['replayed'] })
      const [, again] = published()
      expect([again?.key?.toString(), again?.value, again && headerOf(again, 'x-own')]).to.deep.equal(['k', value, '1'])
    })

    it('refuses a dead letter whose event is missing in the log, but accepts an event from the operator', async () => {
      tested.log.append({ topic: 'orderevents', value: '{}' })
      cut(0)
      cut(7)
      const why = 'the log has deleted the event, and the dead letter does not contain it'
      expect(await refusals()).to.deep.equal([why, why])
      expect(await refusals(value)).to.deep.equal([])
    })

    it('replays the event from the log even if the service could not read the record', async () => {
      const { offset } = tested.log.append({ topic: 'orderevents', key: 'k', value, timestamp: 1_000_000 })
      const position = { topic: 'orderevents', partition: 0, offset }
      const deadLetter = lastResortDeadLetter(position, 'internal-error', 'order-service', new Date())
      tested.log.append({ ...deadLetter, timestamp: 1_000_001 })
      expect(await replay(await entries())).to.deep.equal({ 'order-service': ['replayed'] })
      expect(published()[1]?.value).to.deep.equal(value)
    })

    it('refuses a dead letter if the topic was created again and has a newer record at the same position', async () => {
      tested.log.append({ topic: 'orderevents', key: 'k', value, timestamp: 1_000_000_000 })
      const position = { topic: 'orderevents', partition: 0, offset: '0' }
      const deadLetter = lastResortDeadLetter(position, 'internal-error', 'order-service', new Date())
      tested.log.append({ ...deadLetter, timestamp: 1_000_000 })
      expect((await refusals()).join()).to.contain('the log has deleted the event')
    })

    it('checks an event from the log like any other event', async () => {
      tested.log.append({ topic: 'orderevents', value: '{' })
      cut(0, Buffer.from('{'))
      expect((await refusals()).join()).to.contain('not-json')
    })
  })
})
