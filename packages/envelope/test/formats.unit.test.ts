import { Ajv2020 } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { expect } from 'chai'
import fc from 'fast-check'
import { commonSchema, sharedRules } from '../src/schemas/schemas.ts'
import { sharedAjv } from '../src/validation/ajv.ts'
import { formats, regExp } from '../src/validation/formats.ts'
import { anyText } from './support/any-text.ts'
import { orderId } from './support/documents.ts'

const { validate } = fullFormats['date-time'] as { validate: (text: string) => boolean }

describe('the format date-time', () => {
  const twoDigits = fc.integer({ min: 0, max: 99 }).map((number) => `${number}`.padStart(2, '0'))
  const near = (most: number) =>
    fc.oneof(
      twoDigits,
      fc.integer({ min: 0, max: most }).map((each) => `${each}`.padStart(2, '0')),
    )
  const separators = fc.constantFrom('T', 't', ' ', '')
  const fraction = fc.constantFrom('', '.', '.5', '.123456789012', ',5')
  const offset = fc.oneof(
    fc.constantFrom('Z', 'z', '', '+0000', '+01', 'Z\n'),
    fc
      .tuple(fc.constantFrom('+', '-'), near(23), near(59))
      .map(([sign, hours, minutes]) => `${sign}${hours}:${minutes}`),
  )
  const year = fc.constantFrom('2024', '2025', '1900', '2000', '0000', '20', '٢٠٢٤')

  it('agrees with ajv-formats on texts that look like a date-time, except for the year 0', () => {
    const parts = fc.tuple(year, near(13), near(32), separators, near(24), near(60), near(61), fraction, offset)
    fc.assert(
      fc.property(parts, ([years, month, day, separator, hour, minute, second, rest, zone]) => {
        const text = `${years}-${month}-${day}${separator}${hour}:${minute}:${second}${rest}${zone}`
        expect(formats['date-time'](text), text).to.equal(validate(text) && years !== '0000')
      }),
      { numRuns: 5_000 },
    )
  })

  it('agrees with ajv-formats on date-times with one or two changed characters', () => {
    const right = fc.constantFrom('2024-02-11T10:20:30Z', '2025-12-28T23:59:59.123+23:59', '2025-10-05T09:00:00-01:30')
    const other = fc.oneof(anyText(2), fc.constantFrom('', '0', '9', '00', 'T'))
    fc.assert(
      fc.property(right, fc.integer({ min: 0, max: 30 }), other, fc.nat(2), (text, at, put, cut) => {
        const near = text.slice(0, at) + put + text.slice(at + cut)
        expect(formats['date-time'](near), near).to.equal(validate(near) && !near.startsWith('0000'))
      }),
      { numRuns: 5_000 },
    )
  })

  it('accepts only existing days of each month', () => {
    for (const day of ['2024-02-29', '2025-01-31', '2025-02-28'])
      expect(formats['date-time'](`${day}T00:00:00Z`)).to.equal(true)
    for (const day of ['2025-02-29', '2025-04-31', '2025-01-32'])
      expect(formats['date-time'](`${day}T00:00:00Z`)).to.equal(false)
  })
})

describe('the compiled rule of a GUID', () => {
  it('agrees with its pattern on random texts and on texts that are nearly a GUID', () => {
    const { pattern } = sharedRules.guid
    const [quick, plain] = [regExp(pattern, 'u'), new RegExp(pattern, 'u')]
    const places = fc.integer({ min: 0, max: 37 })
    const nearly = fc
      .tuple(fc.constantFrom(orderId, orderId.toUpperCase()), places, anyText(2), fc.integer({ min: 0, max: 2 }))
      .map(([guid, at, text, cut]) => guid.slice(0, at) + text + guid.slice(at + cut))
    fc.assert(
      fc.property(fc.oneof(fc.uuid(), nearly, anyText(36)), (text) => {
        expect(quick.test(text), text).to.equal(plain.test(text))
      }),
      { numRuns: 3_000 },
    )
    for (const code of Array(128).keys()) {
      const text = String.fromCharCode(code) + orderId.slice(1)
      expect(quick.test(text), text).to.equal(plain.test(text))
    }
  })
})

describe('the compiled rules of a GUID and a date', () => {
  for (const [rule, valid] of Object.entries({
    guid: orderId,
    date: '2026-02-28',
    dateTime: '2026-01-31T12:00:00.5Z',
  })) {
    it(`gives the same result as the rule ${rule} of common.json`, () => {
      const plain = new Ajv2020({ strict: false, formats: fullFormats })
      plain.addSchema(commonSchema)
      const schema = { $ref: `${commonSchema.$id}#/$defs/${rule}` }
      const [compiled, whole] = [sharedAjv().compile(schema), plain.compile(schema)]
      const inserted = fc.constantFrom('\n', '\r', ' ', '\u2028', '\ufeff', '0', '0000', 'Z', '')
      const nearly = fc
        .tuple(fc.nat(valid.length), inserted, fc.integer({ min: 0, max: 4 }))
        .map(([at, text, cut]) => valid.slice(0, at) + text + valid.slice(at + cut))
      const seen = new Set<boolean>()
      fc.assert(
        fc.property(fc.oneof(nearly, anyText(36)), (text) => {
          seen.add(whole(text))
          expect(compiled(text), JSON.stringify(text)).to.equal(whole(text))
        }),
        { numRuns: 3_000 },
      )
      expect(seen.size).to.equal(2)
    })
  }
})
