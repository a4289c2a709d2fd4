import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { validateText } from '../src/envelope/verdict.ts'
import { createEnvelope, eventTypes, type Mode, validateBytes, validateDocument } from '../src/index.ts'
import { app, bytesOf, orderCreated, reduced } from './support/documents.ts'

const full = createEnvelope({ app, type: 'OrderCreated@1', payload: orderCreated, creationDate: new Date(0) })
const missing = (...fields: string[]) => fields.map((field) => ({ pointer: `/${field}`, message: 'is missing' }))

describe('the verdict on a document', () => {
  const both: Mode[] = ['publisher', 'receiver']

  it('reports the full variant for an envelope with all ids, in both modes', () => {
    for (const mode of both) {
      expect(validateDocument(full, mode)).to.deep.equal({ valid: true, variant: 'full', errors: [], warnings: [] })
    }
  })

  it('reports the reduced variant for six fields, which only receivers accept', () => {
    const valid = { valid: true, variant: 'reduced', errors: [], warnings: [] }
    expect(validateDocument(reduced(), 'receiver')).to.deep.equal(valid)
    const errors = missing('Id', 'CorrelationId', 'TraceId')
    const refused = { ...valid, valid: false, code: 'not-an-envelope', errors }
    expect(validateDocument(reduced(), 'publisher')).to.deep.equal(refused)
  })

  it('reports the reduced variant for an envelope with some ids', () => {
    const { Id: _, ...some } = full
    expect(validateDocument(some, 'receiver').variant).to.equal('reduced')
    expect(validateDocument(some, 'publisher').errors).to.deep.equal(missing('Id'))
  })

  it('reports the variant of an envelope with an invalid Payload, and null for a document that is no envelope', () => {
    const wrong = validateDocument({ ...full, Payload: { ...orderCreated, Total: -1 } }, 'receiver')
    expect(wrong).to.deep.include({ valid: false, variant: 'full', code: 'invalid-payload' })
    for (const document of [null, 1, 'text', [], {}, { ...full, Id: 1 }, { ...full, Headers: { a: Infinity } }]) {
      expect(validateDocument(document, 'receiver')).to.include({
        valid: false,
        variant: null,
        code: 'not-an-envelope',
      })
    }
  })

  it("accepts another application's event with a warning, whatever its Payload and Version", () => {
    const names = new Set(eventTypes.map((type) => type.split('@')[0]))
    for (const mode of both) {
      const { warnings, ...verdict } = validateDocument({ ...full, Name: 'ParcelSent', Version: 9, Payload: {} }, mode)
      expect(verdict).to.deep.equal({ valid: true, variant: 'full', errors: [] })
      expect(warnings).to.deep.equal([
        {
          pointer: '/Name',
          message: 'is not a known event, so the Payload was not checked',
          hint: `known events: ${[...names].join(', ')}`,
        },
      ])
    }
  })

  it('rejects a near miss of a known Name, and an unknown Version of a known Name', () => {
    for (const mode of both) {
      const near = validateDocument({ ...full, Name: 'orderCreated' }, mode)
      expect(near).to.deep.include({ valid: false, code: 'unknown-event', warnings: [] })
      expect(near.errors).to.deep.equal([
        { pointer: '/Name', message: 'is not a known event', hint: 'write OrderCreated' },
      ])
      expect(validateDocument({ ...full, Version: 99 }, mode)).to.deep.include({
        valid: false,
        code: 'unknown-version',
      })
    }
  })

  it('reports bytes that are not JSON or UTF-8', () => {
    expect(validateBytes(Uint8Array.of(0xff), 'receiver')).to.include({ code: 'not-utf8', variant: null })
    for (const text of ['', '{', '\0', 'NaN'])
      expect(validateBytes(bytesOf(text), 'receiver').code).to.equal('not-json')
    expect(validateBytes(bytesOf(full), 'publisher').valid).to.equal(true)
    expect(validateBytes(Uint8Array.of(0xff), 'receiver').warnings).to.deep.equal([])
  })

  it('stays the same for a text and for its bytes, with or without escapes', () => {
    const escaped = JSON.stringify({ ...full, AppName: 'a"b' })
    const flawed = JSON.stringify({ ...full, AppName: 'a\0' })
    for (const text of [JSON.stringify(full), JSON.stringify(reduced()), escaped, flawed, '', '{', '[]', 'null']) {
      for (const mode of both)
        expect(validateText(text, mode, !text.includes('\\')), text).to.deep.equal(validateBytes(bytesOf(text), mode))
    }
    expect(validateText(flawed, 'receiver', false).valid).to.equal(false)
  })

  it('distinguishes the variants by their fields, because their schemas differ only in the required fields', () => {
    const [one, other] = ['full', 'received'].map((variant) => {
      const {
        $id: _,
        title: __,
        description: ___,
        required: ____,
        ...rest
      } = JSON.parse(readFileSync(new URL(`../schemas/envelope.${variant}.json`, import.meta.url), 'utf8'))
      return rest
    })
    expect(one).to.deep.equal(other)
  })
})
