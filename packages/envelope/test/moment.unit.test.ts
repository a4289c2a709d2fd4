import { expect } from 'chai'
import fc from 'fast-check'
import { momentProblem, parseMoment } from '../src/index.ts'
import { commonSchema } from '../src/schemas/schemas.ts'
import { sharedAjv } from '../src/validation/ajv.ts'

const form = 'must be a date-time with an offset, such as 2026-01-31T12:00:00Z'

describe('parseMoment', () => {
  it('reads every date-time with an offset, with or without seconds', () => {
    const moments = {
      '2026-11-21T10:00Z': '2026-11-21T10:00:00.000Z',
      '2026-11-21T10:00:30+01:00': '2026-11-21T09:00:30.000Z',
      '2024-02-29T23:59:59.123456789-23:59': '2024-03-01T23:58:59.123Z',
      '0001-01-01T00:00:00Z': '0001-01-01T00:00:00.000Z',
    }
    for (const [text, moment] of Object.entries(moments)) {
      expect(parseMoment(text)?.toISOString(), text).to.equal(moment)
      expect(momentProblem(text), text).to.equal(undefined)
    }
  })

  const wrong: Record<string, string[]> = {
    'name a day that exists: this month is shorter': [
      '2026-11-31T00:00Z',
      '2026-02-30T00:00:00Z',
      '2026-02-29T00:00:00Z',
      '1900-02-29T00:00:00+01:00',
      '2026-01-32T00:00:00Z',
      '2026-01-00T00:00:00Z',
    ],
    'give a month from 01 to 12': ['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z'],
    'write 24:00 as 00:00 of the next day': ['2026-01-31T24:00:00Z', '2026-01-31T24:00+01:00'],
    'write a leap second as second 59, or as second 00 of the next minute': ['2016-12-31T23:59:60Z'],
    'add the time and an offset, such as T00:00:00Z': ['2026-02-30', '2026-01-31'],
  }
  for (const [hint, texts] of Object.entries(wrong)) {
    it(`returns undefined, and momentProblem gives this hint: ${hint}`, () => {
      for (const text of texts) {
        expect(parseMoment(text), text).to.equal(undefined)
        expect(momentProblem(text), text).to.equal(`${form}; ${hint}`)
      }
    })
  }

  it('returns undefined without an offset, because the time would depend on the machine', () => {
    for (const text of ['2026-01-31T12:00', '2026-01-31T12:00:00.5']) {
      expect(parseMoment(text), text).to.equal(undefined)
      expect(momentProblem(text), text).to.contain('; add Z or an offset such as +00:00')
    }
  })

  it('returns undefined for other texts', () => {
    for (const text of [
      '',
      'yesterday',
      '2026-01-31T12:00:00Z\n',
      ' 2026-01-31T12:00Z',
      '2026-01-31T12:00:00.Z',
      '1',
    ]) {
      expect(parseMoment(text), text).to.equal(undefined)
      expect(momentProblem(text), text).to.match(/^must be a date-time with an offset/)
    }
  })

  it('reads exactly the date-times that the contract accepts, and those without seconds', () => {
    const accepts = sharedAjv().compile({ $ref: `${commonSchema.$id}#/$defs/dateTime` })
    const number = (least: number, most: number, digits = 2) =>
      fc.integer({ min: least, max: most }).map((each) => `${each}`.padStart(digits, '0'))
    const year = fc.constantFrom('2024', '2025', '1900', '2000', '0000', '0001', '9999')
    const fraction = fc.constantFrom('', '.', '.5', '.123456789', '.1234567890', ',5')
    const offset = fc.constantFrom('Z', 'z', '', '+0000', '+01', '+01:30', '-23:59', '+24:00', 'Z\n')
    const parts = fc.tuple(year, number(0, 13), number(0, 32), number(0, 24), number(0, 60), number(0, 61))
    const seen = new Set<boolean>()
    fc.assert(
      fc.property(parts, fraction, offset, ([years, month, day, hour, minute, second], rest, zone) => {
        const text = `${years}-${month}-${day}T${hour}:${minute}:${second}${rest}${zone}`
        seen.add(accepts(text))
        expect(parseMoment(text) !== undefined, text).to.equal(accepts(text))
      }),
      { numRuns: 5_000 },
    )
    expect(seen.size).to.equal(2)
  })
})
