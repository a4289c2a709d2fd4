import { readdirSync, readFileSync } from 'node:fs'
import { validateBytes } from '@orderflow/envelope-schema'
import { UntrustedError } from '@orderflow/service-kit/trust'
import { expect } from 'chai'
import { examine } from '../src/ingest/examine.ts'
import { logRecord, orderCreated, trusting } from './support/records.ts'

const folder = new URL('../../envelope-schema/fixtures/', import.meta.url)
const fixtures = (kind: 'valid' | 'invalid') =>
  readdirSync(new URL(kind, folder)).map((name) => ({ name, bytes: readFileSync(new URL(`${kind}/${name}`, folder)) }))

describe('how the monitor sees a record', () => {
  for (const { name, bytes } of [...fixtures('valid'), ...fixtures('invalid')]) {
    it(`is how a receiver sees ${name}`, () => {
      const { kind, body } = examine({ ...logRecord(''), value: bytes }, trusting)
      const { code, errors, warnings } = validateBytes(bytes, 'receiver')
      expect(kind.validity).to.equal(code ?? (warnings.length > 0 ? 'foreign' : 'valid'))
      expect((body.faults ?? []).map(({ pointer }) => pointer)).to.deep.equal(errors.map(({ pointer }) => pointer))
    })
  }

  it('tells of one whose publisher may not say it', () => {
    const refusing = {
      requireTrusted() {
        throw new UntrustedError('its AppName is order-service, whose AppId is another')
      },
    }
    const { kind } = examine(logRecord(orderCreated()), refusing)
    expect([kind.validity, kind.problem?.message]).to.deep.equal([
      'untrusted',
      'its AppName is order-service, whose AppId is another',
    ])
  })

  it('gives a reduced envelope the ids that its receivers give it, also once it was resent', () => {
    const document = orderCreated()
    const first = examine(logRecord(document, { offset: 3 }), trusting)
    const resent = examine(
      logRecord(document, { offset: 9, headers: { 'replayed-from': 'orderevents/0/3' } }),
      trusting,
    )
    expect(resent.ids).to.deep.equal(first.ids)
    expect(resent.body.origin).to.deep.equal({ topic: 'orderevents', partition: 0, offset: '3' })
  })

  it('of a tombstone is that it is none', () => {
    const { kind, body } = examine(logRecord(''), trusting)
    expect([kind.validity, body.note]).to.deep.equal(['not-json', '(nothing: a tombstone)'])
  })

  /** Lists in objects, so many levels of both. */
  const nested = (levels: number) => `${'{"":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`

  it('of a document that nests deeper than any receiver takes is why, and not the document', () => {
    expect(examine(logRecord(nested(64)), trusting).body.document).to.be.an('object')
    for (const levels of [66, 1_000, 4_000, 6_000, 8_000, 10_000, 100_000]) {
      const { kind, body } = examine(logRecord(nested(levels)), trusting)
      expect([kind.validity, kind.problem?.message], `${levels}`).to.deep.equal([
        'not-an-envelope',
        'nests deeper than 64 levels',
      ])
      expect([body.document, body.note]).to.deep.equal([
        undefined,
        `(${levels * 3.5} bytes that are not JSON, or nest too deep)`,
      ])
    }
  })

  it('that it cannot examine is that, so that it holds up no other', () => {
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
