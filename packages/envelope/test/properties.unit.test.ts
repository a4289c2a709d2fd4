import { inspect } from 'node:util'
import { expect } from 'chai'
import fc from 'fast-check'
import { createEnvelope, EnvelopeError, parseEnvelope, parseEvent, parseFullEnvelope } from '../src/index.ts'
import { anyText } from './support/any-text.ts'
import { app, bytesOf, errorOf, orderCreated, reduced } from './support/documents.ts'

const text = (maxLength: number) =>
  fc
    .tuple(anyText(maxLength - 1), fc.constantFrom('a', '-', '\u{1f600}'))
    .map((parts) => parts.join('').replaceAll('\0', 'b'))

/** Generates texts of any UTF-16 code units, which are often invalid characters. */
const codeUnits = fc
  .array(fc.oneof(fc.nat(0xffff), fc.integer({ min: 0xd800, max: 0xdfff }), fc.constantFrom(0, 0x61)), { maxLength: 4 })
  .map((units) => String.fromCharCode(...units))

const validText = JSON.stringify(reduced())
const damaged = fc
  .tuple(fc.nat(validText.length), fc.nat(5), fc.string({ maxLength: 3 }))
  .map(([at, removed, added]) => bytesOf(validText.slice(0, at) + added + validText.slice(at + removed)))
const fields = ['Id', ...Object.keys(reduced()), 'Headers', 'TenantID']
const oddDocument = fc.record(Object.fromEntries(fields.map((field) => [field, fc.jsonValue()])), { requiredKeys: [] })
const anyBytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), damaged, oddDocument.map(bytesOf), fc.json().map(bytesOf))

describe('parsing of any bytes', () => {
  for (const parse of [parseEnvelope, parseEvent, parseFullEnvelope]) {
    it(`${parse.name} returns a value or throws an EnvelopeError with problems`, () => {
      fc.assert(
        fc.property(anyBytes, (bytes) => {
          try {
            parse(bytes)
          } catch (error) {
            if (!(error instanceof EnvelopeError)) throw error
            expect(error.problems).not.to.have.lengthOf(0)
          }
        }),
        { numRuns: 2000 },
      )
    })
  }
})

describe('parsing of any text in an event', () => {
  it('keeps every string of an event that is created, written and parsed', () => {
    fc.assert(
      fc.property(text(200), text(64), text(200), fc.jsonValue(), (CustomerName, CustomerTaxId, name, header) => {
        const made = createEnvelope({
          app: { ...app, name },
          type: 'OrderCreated@1',
          payload: { ...orderCreated, CustomerName, CustomerTaxId },
          creationDate: new Date(0),
          headers: JSON.parse(JSON.stringify({ header })),
        })
        expect(parseEnvelope(bytesOf(made))).to.deep.equal(made)
      }),
    )
  })

  it('keeps an unknown field with any name and value', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (key, value) => {
        fc.pre(!fields.includes(key) && !['CorrelationId', 'TraceId', 'TenantUserID'].includes(key))
        const json = `{${JSON.stringify(key)}:${JSON.stringify(value)},${validText.slice(1)}`
        expect(JSON.stringify(parseEvent(bytesOf(json)))).to.equal(JSON.stringify(JSON.parse(json)))
      }),
    )
  })
})

describe('parsing of any UTF-16 code units', () => {
  it('accepts a text or key that UTF-8 and every database can store', () => {
    fc.assert(
      fc.property(codeUnits, fc.constantFrom('text', 'key'), (units, place) => {
        const header = place === 'key' ? { [`x${units}`]: 1 } : units
        const parse = () => parseEnvelope(bytesOf(reduced({ Headers: { list: [header] } })))
        if (Buffer.from(units).toString() === units && !units.includes('\0')) parse()
        else expect(errorOf(parse).problems.map(({ pointer }) => pointer)).to.deep.equal(['/Headers/list'])
      }),
      { numRuns: 1000 },
    )
  })
})

describe('errors for any wrong value', () => {
  const secret = 'Tx-77-SECRET'
  const values = [secret, [secret], { a: secret }, `urn:uuid:${secret}`, `{${secret}}`, secret.repeat(100)]
  const neverRight = ['/Id', '/AppId', '/Version', '/Name', '/CreationDate', '/Payload/OrderId', '/Payload/Total']
  const sometimesRight = ['/AppName', '/Headers', '/TenantID', '/Payload/CustomerName', '/Payload/CustomerTaxId']

  it('omits the value from every error', () => {
    const wrong = fc.subarray(neverRight, { minLength: 1 })
    fc.assert(
      fc.property(wrong, fc.subarray(sometimesRight), fc.constantFrom(...values), (always, sometimes, value) => {
        const payload: Record<string, unknown> = { ...orderCreated }
        const document = reduced({ Payload: payload })
        for (const [, field = '', inner] of [...always, ...sometimes].map((pointer) => pointer.split('/'))) {
          if (inner) payload[inner] = value
          else document[field] = value
        }
        const error = errorOf(() => parseEvent(bytesOf(document)))
        expect(inspect(error, { depth: null, showHidden: true })).not.to.include('SECRET')
      }),
    )
  })

  it('omits a value next to a JSON syntax error', () => {
    const whole = JSON.stringify(reduced({ AppName: secret }))
    fc.assert(
      fc.property(
        fc.nat(whole.length - 2),
        fc.constantFrom('', '"', "'", '}', 'at position 5 (line 1 column 6)'),
        (at, noise) => {
          const bytes = bytesOf(whole.slice(0, at) + noise)
          expect(
            inspect(
              errorOf(() => parseEvent(bytes)),
              { depth: null, showHidden: true },
            ),
          ).not.to.include('SECRET')
        },
      ),
      { numRuns: 1000 },
    )
  })
})
