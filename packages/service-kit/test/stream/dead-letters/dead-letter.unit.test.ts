import { createHash } from 'node:crypto'
import { deterministicId, recordId } from '@orderflow/envelope'
import { expect } from 'chai'
import fc from 'fast-check'
import type { OutgoingEvent } from '../../../src/sidecar/sidecar.ts'
import { deadLetterId, deadLetterOf, minimalDeadLetter } from '../../../src/stream/dead-letters/dead-letter.ts'
import type { Delivery } from '../../../src/stream/log/record.ts'

const position = { topic: 'orderevents', partition: 2, offset: '9' }
const delivery: Delivery = {
  entryId: '1',
  position,
  origin: { ...position, offset: '7' },
  key: 'k',
  escapedKey: 'k',
  traceparent: undefined,
  causedAt: undefined,
  signature: undefined,
  arrivedAt: 0,
  appendedAt: 0,
  value: Buffer.from('{'),
}
const fault = { code: 'not-json', detail: 'd' }
const now = new Date('2026-11-21T10:00:00Z')

function bytesOf({ key = '', value, headers }: OutgoingEvent): number {
  const texts = [key, ...Object.entries(headers).flat()]
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), value.byteLength)
}

/** The `max.message.bytes` of topics and dead-letter topics (packages/service-kit/src/stream/publishing/topic-settings.ts). */
const [topicBytes, deadTopicBytes] = [262_144, 1_048_576]
/** An upper limit for the bytes that Kafka's protocol adds for a batch and a record. */
const overhead = 1_024

describe('dead letters', () => {
  it('deadLetterId returns the same id in every version of the code, because logs are kept for ever', () => {
    expect(deadLetterId('order-service', position)).to.equal('072af15f-4d73-52b8-87b7-fd1b78a9d8f8')
    const record = '42f62fdb-709c-5265-90ba-675b8e0624f6'
    const id = deterministicId('dead-letter', 'order-service', 'orderevents', record)
    expect(deadLetterId('order-service', position, record)).to.equal(id)
  })

  it('a dead letter’s id depends on its record’s value, key and time, so another record at the same position has another id', () => {
    const of = (changes = {}) => {
      const { headers } = deadLetterOf({ ...delivery, origin: position, ...changes }, fault, 'order-service', now)
      return [headers['deadletter-record'], headers['deadletter-id']]
    }
    const [record, id] = of()
    expect(record).to.equal(recordId({ value: delivery.value, key: Buffer.from('k'), timestamp: 0 }))
    expect(id).to.equal(deadLetterId('order-service', position, record))
    for (const other of [{ value: Buffer.from('[') }, { key: 'l', escapedKey: 'l' }, { arrivedAt: 1 }]) {
      expect(of(other)[0]).not.to.equal(record)
      expect(of(other)[1]).not.to.equal(id)
    }
    const elsewhere = { ...position, partition: 0, offset: '1' }
    expect(of({ position: elsewhere, origin: elsewhere })).to.deep.equal([record, id])
  })

  it('a dead letter fits into the dead-letter topic if its event fits into the event’s topic', () => {
    const parts = fc.record({ key: fc.double({ min: 0, max: 1, noNaN: true }), isBinary: fc.boolean() })
    fc.assert(
      fc.property(parts, fc.string({ unit: 'grapheme', maxLength: 9_000 }), ({ key: share, isBinary }, detail) => {
        const keyBytes = Math.floor(topicBytes * share)
        const escapedKey = (isBinary ? '%FF' : '%41').repeat(keyBytes)
        const key = isBinary ? undefined : 'A'.repeat(keyBytes)
        const value = Buffer.alloc(topicBytes - keyBytes)
        const deadLetter = deadLetterOf(
          { ...delivery, key, escapedKey, value },
          { ...fault, detail },
          'order-service',
          now,
        )
        expect(bytesOf(deadLetter) + overhead).to.be.below(deadTopicBytes)
      }),
      { numRuns: 20, examples: [[{ key: 1, isBinary: true }, '\u0800'.repeat(9_000)]] },
    )
  })

  it('minimalDeadLetter returns a small record with the position, the reason and a digest of the event', () => {
    const large = {
      ...delivery,
      key: 'x'.repeat(1_000_000),
      escapedKey: 'x'.repeat(1_000_000),
      traceparent: `01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-${'x'.repeat(1_000_000)}`,
      value: Buffer.alloc(1_000_000, 'y'),
    }
    const detail = '\u0800'.repeat(1_000_000)
    const app = '🚀'.repeat(200)
    const whole = deadLetterOf(large, { ...fault, detail }, app, now)
    const deadLetter = minimalDeadLetter(large, { ...fault, detail }, app, now)
    expect(bytesOf(deadLetter)).to.be.below(4_096)
    expect([deadLetter.topic, deadLetter.key, deadLetter.value.byteLength]).to.deep.equal([
      'orderevents.dead',
      undefined,
      0,
    ])
    const { 'deadletter-detail': cut, 'deadletter-cut': digest, ...story } = deadLetter.headers
    const { 'deadletter-detail': _, traceparent: __, ...wholeStory } = whole.headers
    expect(story).to.deep.equal(wholeStory)
    expect(detail.startsWith(cut ?? '?')).to.equal(true)
    expect(digest).to.equal(createHash('sha256').update(large.value).digest('hex'))
  })
})
