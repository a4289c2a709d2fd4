import { readdirSync, readFileSync } from 'node:fs'
import { completeEnvelope, type ReceivedEnvelope, validateBytes } from '@orderflow/envelope'
import { UntrustedError } from '@orderflow/service-kit/log'
import { expect } from 'chai'
import { examine } from '../src/ingest/examine.ts'
import { logRecord, orderCreated, trusting } from './support/records.ts'

const folder = new URL('../../../envelope-schema/fixtures/', import.meta.url)
const fixtures = (kind: 'valid' | 'invalid') =>
  readdirSync(new URL(kind, folder)).map((name) => ({ name, bytes: readFileSync(new URL(`${kind}/${name}`, folder)) }))

describe('examine', () => {
  for (const { name, bytes } of [...fixtures('valid'), ...fixtures('invalid')]) {
    it(`reads ${name} as a receiver does`, () => {
      const { kind, body } = examine({ ...logRecord(''), value: bytes }, trusting)
      const { code, errors, warnings } = validateBytes(bytes, 'receiver')
      expect(kind.validity).to.equal(code ?? (warnings.length > 0 ? 'foreign' : 'valid'))
      expect((body.faults ?? []).map(({ pointer }) => pointer)).to.deep.equal(errors.map(({ pointer }) => pointer))
    })
  }

  it('marks an event as untrusted if its publisher may not publish it', () => {
    const refusing = {
      requireTrusted() {
        throw new UntrustedError('its AppName is order-service, which has another AppId')
      },
    }
    const { kind } = examine(logRecord(orderCreated()), refusing)
    expect([kind.validity, kind.problem?.message]).to.deep.equal([
      'untrusted',
      'its AppName is order-service, which has another AppId',
    ])
  })

  it('derives the same ids as other receivers from the value and key of a record, also for dead letters', () => {
    const deadLetterOf = (headers: Record<string, string>) => ({
      topic: 'orderevents.dead',
      headers: {
        'deadletter-app': 'order-service',
        'deadletter-reason': 'handler-error',
        'deadletter-topic': 'orderevents',
        'deadletter-partition': '0',
        'deadletter-offset': '7',
        ...headers,
      },
    })
    const document = orderCreated()
    const { Id, CorrelationId, TraceId } = completeEnvelope({} as ReceivedEnvelope, {
      value: Buffer.from(JSON.stringify(document)),
      key: Buffer.from('a b'),
    })
    for (const options of [
      { offset: 7, key: 'a b' },
      { offset: 9, key: 'a b', partition: 2, topic: 'copied.orderevents' },
      { ...deadLetterOf({}), key: 'a b' },
      deadLetterOf({ 'deadletter-key': 'a+%62' }),
    ]) {
      const { ids, body } = examine(logRecord(document, options), trusting)
      expect([ids.id, ids.correlationId, ids.traceId]).to.deep.equal([Id, CorrelationId, TraceId])
      expect(body.ids).to.deep.equal([Id, CorrelationId, TraceId])
    }
  })

  it('keeps the derived ids of a reduced envelope after a replay', () => {
    const document = orderCreated()
    const first = examine(logRecord(document, { offset: 3 }), trusting)
    const replayed = examine(
      logRecord(document, { offset: 9, headers: { 'replayed-from': 'orderevents/0/3' } }),
      trusting,
    )
    expect(replayed.ids).to.deep.equal(first.ids)
    expect(replayed.body.origin).to.deep.equal({ topic: 'orderevents', partition: 0, offset: '3' })
  })

  it('stores no document for a tombstone', () => {
    const { kind, body } = examine(logRecord(''), trusting)
    expect([kind.validity, body.note]).to.deep.equal(['not-json', '(nothing: a tombstone)'])
  })

  it('replaces a branch below the allowed depth by one placeholder', () => {
    const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`
    expect(examine(logRecord(nested(64)), trusting).body.masked).to.equal(undefined)
    const cut = `***{${'/a/0'.repeat(32)}}***`
    for (const levels of [66, 1_000, 4_000, 6_000, 8_000, 10_000, 100_000]) {
      const { kind, body } = examine(logRecord(nested(levels)), trusting)
      expect([kind.validity, kind.problem?.message], `${levels}`).to.deep.equal([
        'not-an-envelope',
        'nests deeper than 64 levels',
      ])
      expect(JSON.stringify(body.document), `${levels}`).to.equal(nested(64).replace('[]', `["${cut}"]`))
    }
  })

  it('names the publisher of a document that nests too deep, unless the name itself nests too deep', () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const text = (over: Record<string, unknown>) => JSON.stringify(orderCreated(over)).replace('"deep"', deep)
    expect(examine(logRecord(text({ Extra: 'deep' })), trusting).kind.appName).to.equal('older-application')
    expect(examine(logRecord(text({ AppName: 'deep' })), trusting).kind.appName).to.equal(null)
  })

  it('replaces whole branches, or omits the document, if there are too many values to mask', () => {
    const key = 'k'.repeat(64)
    const long = `${`{"${key}":`.repeat(60)}[${Array(200_000).fill('"a"').join()}]${'}'.repeat(60)}`
    const of = (Payload: string) => {
      const text = JSON.stringify(orderCreated({ Name: 'StockCounted', Payload: 'here' })).replace('"here"', Payload)
      const { kind, body } = examine(logRecord(text), trusting)
      expect([kind.validity, kind.appName]).to.deep.equal(['foreign', 'older-application'])
      return (body.document as { Payload: unknown }).Payload
    }
    expect(of(long)).to.deep.equal({ [key]: { [key]: `***{/Payload/${key}/${key}}***` } })
    expect(of(`{${Array.from({ length: 50_000 }, (_, index) => `"a${index}":"a"`).join()}}`)).to.equal(
      '***{/Payload}***',
    )
    const fields = `{${Array.from({ length: 50_000 }, (_, index) => `"a${index}":"a"`).join()}}`
    const { body } = examine(logRecord(fields), trusting)
    expect([body.document, body.note]).to.deep.equal([
      undefined,
      `(${fields.length} bytes that are not JSON, or more than can be shown)`,
    ])
  })

  it('limits the number of reported problems', () => {
    const text = `{${Array.from({ length: 5_000 }, (_, index) => `"a${index}":"\\u0000"`).join()}}`
    expect(examine(logRecord(text), trusting).body.faults).to.have.length(100)
  })

  it('marks a record as unreadable after an unexpected error, and continues with the next records', () => {
    const failing = {
      requireTrusted() {
        throw new RangeError('Maximum call stack size exceeded')
      },
    }
    const { kind, body, guids, ids } = examine(logRecord(orderCreated()), failing)
    expect([kind.topic, kind.validity, kind.name]).to.deep.equal(['orderevents', 'not-an-envelope', null])
    expect(body.faults).to.deep.equal([{ pointer: '', message: 'event-monitor cannot read it: RangeError' }])
    expect(body.document).to.equal(undefined)
    expect(body.note).to.match(/^\(\d+ bytes\)$/)
    expect(guids).to.contain(ids.id)
  })
})
