import { expect } from 'chai'
import { checkPayload, nestsTooDeep, parseEnvelope, parseEvent, parseFullEnvelope } from '../src/index.ts'
import { app, bytesOf, errorOf, orderCreated, orderId, reduced } from './support/documents.ts'

/** Replaces the string "HERE" in the document's text by `json`. */
const withRaw = (document: unknown, json: string) => bytesOf(JSON.stringify(document).replace('"HERE"', json))

describe('parseEnvelope', () => {
  it("converts the envelope's GUIDs to lower case, and keeps the Payload", () => {
    const upper = orderId.toUpperCase()
    const ids = { Id: upper, CorrelationId: upper, TraceId: upper, AppId: app.id.toUpperCase() }
    const parsed = parseEnvelope(bytesOf(reduced({ ...ids, Payload: { OrderId: upper } })))
    expect(parsed).to.include({ Id: orderId, CorrelationId: orderId, TraceId: orderId, AppId: app.id })
    expect(parsed.Payload).to.deep.equal({ OrderId: upper })
  })

  it('accepts an unknown event', () => {
    expect(parseEnvelope(bytesOf(reduced({ Name: 'ParcelSent', Version: 7, Payload: {} })))).to.include({ Version: 7 })
  })

  it('drops a byte order mark', () => {
    expect(parseEnvelope(bytesOf(`\uFEFF${JSON.stringify(reduced())}`))).to.deep.equal(reduced())
  })

  it('reads a value correctly after another value that ended in the middle of a character', () => {
    expect(errorOf(() => parseEnvelope(Uint8Array.of(0x22, 0xe2, 0x82))).code).to.equal('not-utf8')
    expect(parseEnvelope(bytesOf(reduced({ AppName: '€' })))).to.include({ AppName: '€' })
  })

  it('keeps a __proto__ key as data, without other effects', () => {
    const text = JSON.stringify(reduced()).replace('{', '{"__proto__":{"Id":"x","polluted":true},')
    const parsed = parseEnvelope(bytesOf(text))
    expect(JSON.parse(JSON.stringify(parsed))).to.deep.equal(JSON.parse(text))
    expect(Object.getPrototypeOf(parsed)).to.equal(Object.prototype)
    expect(parsed.Id).to.equal(undefined)
  })

  it('does not accept an inherited __proto__ in place of required fields', () => {
    const text = `{"__proto__":${JSON.stringify(reduced())}}`
    expect(errorOf(() => parseEnvelope(bytesOf(text))).problems).to.have.lengthOf(6)
  })

  it('uses the last of duplicate keys', () => {
    const text = JSON.stringify(reduced()).replace('{', '{"AppName":"first",')
    expect(parseEnvelope(bytesOf(text))).to.include({ AppName: 'legacy-shop' })
  })

  it('names the field of a text that is not portable, and omits its value', () => {
    const { problems } = errorOf(() =>
      parseEnvelope(withRaw(reduced({ Headers: { Note: 'HERE' } }), '"\\ud800x\\u0000"')),
    )
    expect(problems).to.deep.equal([
      {
        pointer: '/Headers/Note',
        message: 'has U+0000 or a lone surrogate in a text or key',
        hint: 'leave it out: not every language and database can hold it',
      },
    ])
  })

  it('reports only the first problem of a field that breaks two limits', () => {
    const error = errorOf(() => parseEnvelope(withRaw(reduced({ Headers: { a: 'HERE' } }), '[1e400, "\\u0000"]')))
    const message = 'has a number that is too large for a 64-bit double'
    expect(error.problems).to.deep.equal([{ pointer: '/Headers/a', message }])
  })

  it('rejects nesting beyond 64 levels, however deep', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}1e400${']'.repeat(levels)}`
    for (const parse of [parseEnvelope, parseEvent, parseFullEnvelope]) {
      for (const levels of [63, 100_000]) {
        const document = reduced({ Id: orderId, CorrelationId: orderId, TraceId: orderId, Headers: { a: 'HERE' } })
        const { code, problems } = errorOf(() => parse(withRaw(document, nested(levels))))
        expect(code).to.equal('not-an-envelope')
        const hint =
          'each object and list is a level, and the document is the first: flatten it, or send the deep part as a text'
        expect(problems).to.deep.equal([{ pointer: '', message: 'nests deeper than 64 levels', hint }])
      }
    }
  })

  it('finds numbers that are too large for a double at any level, and reports them with one short pointer', () => {
    const deep = `${'['.repeat(61)}1e400${']'.repeat(61)}`
    const error = errorOf(() => parseEnvelope(withRaw(reduced({ Headers: { a: 'HERE' }, b: 1 }), `[${deep},-1e999]`)))
    expect(error.problems.map(({ pointer }) => pointer)).to.deep.equal(['/Headers/a'])
  })

  it('ends a pointer before a key that is not a plain name', () => {
    const error = errorOf(() => parseEnvelope(withRaw(reduced({ Headers: { 'tax 123/45': 'HERE' } }), '1e400')))
    expect(error.problems.map(({ pointer }) => pointer)).to.deep.equal(['/Headers'])
  })
})

describe('nestsTooDeep', () => {
  it('returns false for values without levels', () => {
    for (const document of [undefined, null, 'text', 1, true]) expect(nestsTooDeep(document)).to.equal(false)
  })
})

describe('checkPayload', () => {
  it('returns a copy with lower-case GUIDs in the fields of the schema, and keeps other fields', () => {
    const upper = orderId.toUpperCase()
    const envelope = parseEnvelope(bytesOf(reduced({ Payload: { ...orderCreated, OrderId: upper, PaymentId: upper } })))
    const event = checkPayload(envelope)
    expect(event.Payload).to.deep.equal({ ...orderCreated, OrderId: orderId, PaymentId: upper })
    expect(envelope.Payload.OrderId).to.equal(upper)
  })

  it('rejects an unknown Name, an unknown Version, and a Payload that breaks its schema', () => {
    const changes = [{ Name: 'ParcelSent' }, { Version: 99 }, { Payload: {} }]
    const codes = changes.map((change) => errorOf(() => checkPayload(parseEnvelope(bytesOf(reduced(change))))).code)
    expect(codes).to.deep.equal(['unknown-event', 'unknown-version', 'invalid-payload'])
  })

  it('narrows the type of the Payload by Name and Version', () => {
    const event = checkPayload(parseEnvelope(bytesOf(reduced())))
    // @ts-expect-error not every event has a Total
    event.Payload.Total
    const isFirst = event.Name === 'OrderCreated' && event.Version === 1
    expect(isFirst && event.Payload.Total.toFixed(2)).to.equal('42.50')
  })
})

describe('EnvelopeError', () => {
  it('contains a name and a code', () => {
    const error = errorOf(() => parseEvent(bytesOf('{}')))
    expect(error).to.include({ name: 'EnvelopeError', code: 'not-an-envelope' })
  })

  it('lists every problem with its hint in one line', () => {
    const { AppId: _, ...rest } = reduced({ appId: app.id, Version: 0 })
    expect(errorOf(() => parseEvent(bytesOf(rest))).message).to.equal(
      'not-an-envelope: /AppId is missing (rename appId to AppId); /Version must be at least 1',
    )
  })

  it('omits a long name from the hint', () => {
    const { AppId: _, ...rest } = reduced({ [`app${'_'.repeat(100)}id`]: app.id })
    expect(errorOf(() => parseEvent(bytesOf(rest))).problems).to.deep.equal([
      { pointer: '/AppId', message: 'is missing' },
    ])
  })

  it('names the position of a JSON syntax error', () => {
    expect(errorOf(() => parseEvent(bytesOf('{"a": 1,\n "b" 2}'))).message).to.equal(
      'not-json: the document is not JSON: see position 14 (line 2, column 6)',
    )
  })

  it('keeps a cause only if the cause contains no part of the document', () => {
    expect(errorOf(() => parseEvent(Uint8Array.of(0xff))).cause).to.be.instanceOf(TypeError)
    expect(errorOf(() => parseEvent(bytesOf('{"TaxId": GB-1}'))).cause).to.equal(undefined)
  })
})
