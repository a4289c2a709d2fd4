import { expect } from 'chai'
import { type Entry, readDeadLetters } from '../../../src/operations/dead-letters/entries.ts'
import type { Mended } from '../../../src/operations/dead-letters/mend.ts'
import { type Outcome, resendEntries } from '../../../src/operations/dead-letters/resend.ts'
import { headerOf } from '../../../src/operations/log-record.ts'
import { placeText } from '../../../src/stream/place.ts'
import { FakeLog } from '../../../src/testing/fake-log.ts'
import { bytesOf, event, fail, note } from './letters.ts'

describe('dead letters that are resent', () => {
  let log: FakeLog
  beforeEach(() => {
    log = new FakeLog()
  })
  const entries = async () => (await readDeadLetters(log)).entries

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
    note(log, of, as)
    return { result: 'resent' as const, as }
  }
  const published = () => log.records.filter(({ topic }) => topic === 'orderevents')

  it('are one record for both apps, also when there are more of them than are published at once', async () => {
    for (const app of ['order-service', 'payment-service']) {
      for (let offset = 1; offset <= 60; offset += 1) fail(log, app, offset, 'handler-error', { value })
    }
    const all = Array.from({ length: 60 }, () => 'resent')
    expect(await resend(await entries())).to.deep.equal({ 'order-service': all, 'payment-service': all })
    expect(published()).to.have.length(60)
    const done = all.map(() => 'done')
    expect(await resend(await entries())).to.deep.equal({ 'order-service': done, 'payment-service': done })
    expect(published()).to.have.length(60)
  })

  it('are refused for the app that they contradict, whichever app comes first', async () => {
    fail(log, 'order-service', 1, 'handler-error', { value })
    for (let offset = 2; offset <= 70; offset += 1) fail(log, 'order-service', offset)
    fail(log, 'payment-service', 1, 'conflicting-order', { value })
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

  it('are sent back all but those of a partition that there is not, as a dry run says', async () => {
    fail(log, 'order-service', 1, 'handler-error', { value })
    fail(log, 'order-service', 0, 'handler-error', { value, partition: 99 })
    fail(log, 'order-service', 2, 'handler-error', { value })
    expect(await resend(await entries(), { dryRun: true })).to.deep.equal({
      'order-service': ['ready', 'refused', 'ready'],
    })
    expect(published()).to.have.length(0)
    expect(await resend(await entries())).to.deep.equal({ 'order-service': ['resent', 'refused', 'resent'] })
    expect(published()).to.have.length(2)
  })

  it('are told of before the failure that ends the others', async () => {
    for (let offset = 1; offset <= 3; offset += 1) fail(log, 'order-service', offset, 'handler-error', { value })
    const told: string[] = []
    const failing = async (mended: Mended) => {
      if (mended.of === 'orderevents/0/2') throw new Error('the broker is away')
      return await publish(mended)
    }
    const all = (async () => {
      for await (const { entry, result } of resendEntries(log, failing, await entries(), {})) {
        told.push(`${entry.origin.offset} ${result}`)
      }
    })()
    expect(await all.catch((error: Error) => error.message)).to.equal('the broker is away')
    expect(told).to.deep.equal(['1 resent', '3 resent'])
  })

  it('keep the origin that their record names, so that the event keeps its ids, noted or not', async () => {
    fail(log, 'order-service', 9, 'handler-error', { value, resentFrom: 'orderevents/0/1' })
    await resend(await entries())
    expect(published().map((record) => headerOf(record, 'replayed-from'))).to.deep.equal(['orderevents/0/1'])
  })

  describe('without the event, which their topic refused', () => {
    const cut = (offset: number, bytes = value) =>
      fail(log, 'order-service', offset, 'handler-error', { value: bytes, isCut: true })
    const refusals = async (edited?: Buffer) => {
      const whys: string[] = []
      for await (const outcome of resendEntries(log, publish, await entries(), { edited })) {
        if (outcome.result === 'refused') whys.push(...outcome.why)
      }
      return whys
    }

    it('are sent back as the event stands in the log', async () => {
      const { offset } = log.append({ topic: 'orderevents', key: 'k', value, headers: { 'x-own': '1' } })
      cut(Number(offset))
      expect(await resend(await entries())).to.deep.equal({ 'order-service': ['resent'] })
      const [, again] = published()
      expect([again?.key?.toString(), again?.value, again && headerOf(again, 'x-own')]).to.deep.equal(['k', value, '1'])
    })

    it('are refused once the log let go of it or has another one there, unless somebody has the event', async () => {
      log.append({ topic: 'orderevents', value: '{}' })
      cut(0)
      cut(7)
      const why = 'the dead letter is without the event, and the log has it no more'
      expect(await refusals()).to.deep.equal([why, why])
      expect(await refusals(value)).to.deep.equal([])
    })

    it('are checked like any other', async () => {
      log.append({ topic: 'orderevents', value: '{' })
      cut(0, Buffer.from('{'))
      expect((await refusals()).join()).to.contain('not-json')
    })
  })
})
