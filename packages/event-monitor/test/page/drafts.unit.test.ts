import { expect } from 'chai'
import { type Drafts, draftOf, keepDraft } from '../../page/lib/drafts.ts'
import { lagText, nextStepOf, summedLags, troubles } from '../../page/lib/words.ts'
import type { ServiceHealth } from '../../src/api/system.ts'
import { health } from './support/system-sample.ts'

describe('drafts', () => {
  const kept = new Map<string, string>()
  const storage: Drafts = {
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => kept.set(key, value),
    removeItem: (key) => kept.delete(key),
  }

  const draft = { attempt: 'orderevents/0/1', text: 'edited' }

  it('keeps the edit of an entry with its attempt until the edit is removed', () => {
    expect(keepDraft(storage, 'one', draft)).to.equal(true)
    expect([draftOf(storage, 'one'), draftOf(storage, 'other')]).to.deep.equal([draft, null])
    keepDraft(storage, 'one', null)
    expect(kept.size).to.equal(0)
  })

  it('ignores a stored text that is not a draft', () => {
    kept.set('draft:one', '{"AppName":"edited"}')
    kept.set('draft:two', '{"AppName":')
    expect([draftOf(storage, 'one'), draftOf(storage, 'two')]).to.deep.equal([null, null])
  })

  it('reports an edit as lost if the browser has no storage', () => {
    const none: Drafts = {
      getItem: () => {
        throw new Error('no')
      },
      setItem: () => {
        throw new Error('full')
      },
      removeItem: () => {},
    }
    expect([keepDraft(none, 'one', draft), draftOf(none, 'one')]).to.deep.equal([false, null])
  })
})

describe('texts of the health view', () => {
  it('sums the lag of all partitions by group and topic, largest lag first', () => {
    const sums = summedLags(health().groups).map(({ group, topic, partitions, ...lag }) => [
      group,
      topic,
      lagText(lag),
      partitions.length,
    ])
    expect(sums).to.deep.equal([
      ['payment-service', 'orderevents', 'at most 3,612', 3],
      ['order-service', 'paymentevents', '9', 3],
      ['order-service', 'orderevents', '0', 3],
    ])
  })

  it('lists the warnings of services that are ready', () => {
    const [first, ...others] = health().services
    const services = [{ ...(first as ServiceHealth), warnings: ['topic orderevents keeps events for 30 days'] }]
    expect(troubles({ ...health(), services })).to.deep.equal([
      'order-service: topic orderevents keeps events for 30 days',
    ])
    expect(troubles({ ...health(), services: [...services, ...others] })).to.have.length(4)
  })

  it('lists the problems of the system, if it has any', () => {
    expect(troubles(health())).to.deep.equal([
      'payment-service is not-ready: orderevents is not consumed',
      'The sidecar of payment-service is down',
      'payment-service cannot handle orderevents/2/10796',
    ])
    const well = { ...health(), services: health().services.slice(0, 1) }
    expect(troubles(well)).to.deep.equal([])
    expect(troubles({ ...well, index: { ...well.index, error: 'no space left' } })).to.deep.equal([
      'The monitor does not index new events: no space left',
    ])
    const line = 'topic orderevents: compression.type is gzip, should be uncompressed'
    expect(troubles({ ...well, settings: [line] })).to.deep.equal([line])
    expect(troubles({ ...well, kafka: { isUp: false, brokers: [], error: 'refused' } })).to.deep.equal([
      'Kafka does not answer: refused',
    ])
    const unreadable = [
      { topic: 'orderevents', partition: 2, why: 'it has no leader' },
      { topic: 'stock', partition: null, why: 'it cannot be described' },
    ]
    expect(troubles({ ...well, complete: { ...well.complete, unreadable } })).to.deep.equal([
      'The monitor does not read orderevents/2: it has no leader',
      'The monitor does not read stock: it cannot be described',
    ])
  })
})

describe('nextStepOf', () => {
  for (const status of [0, 400, 401, 403, 404, 409, 429, 503]) {
    it(`returns the user’s next step after an answer with status ${status}`, () =>
      expect(nextStepOf({ status })).to.match(/\.$/))
  }
})
