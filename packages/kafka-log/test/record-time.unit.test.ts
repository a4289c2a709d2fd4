import { expect } from 'chai'
import fc from 'fast-check'
import { isoTime, recordTime } from '../src/record-time.ts'

const limits: readonly (readonly [time: number, iso: string])[] = [
  [Number.NaN, '1970-01-01T00:00:00.000Z'],
  [Number.NEGATIVE_INFINITY, '1970-01-01T00:00:00.000Z'],
  [-9.2e18, '1970-01-01T00:00:00.000Z'],
  [-8.64e15 - 1, '1970-01-01T00:00:00.000Z'],
  [-62_135_596_800_000, '1970-01-01T00:00:00.000Z'],
  [-1, '1970-01-01T00:00:00.000Z'],
  [0, '1970-01-01T00:00:00.000Z'],
  [1, '1970-01-01T00:00:00.001Z'],
  [253_402_300_799_999, '9999-12-31T23:59:59.999Z'],
  [253_402_300_800_000, '9999-12-31T23:59:59.999Z'],
  [8.64e15 + 1, '9999-12-31T23:59:59.999Z'],
  [9.2e18, '9999-12-31T23:59:59.999Z'],
  [Number.POSITIVE_INFINITY, '9999-12-31T23:59:59.999Z'],
]

describe('isoTime', () => {
  for (const [time, iso] of limits) {
    it(`returns ${iso} for the timestamp ${time}`, () => expect(isoTime(time)).to.equal(iso))
  }

  it('returns texts of 24 characters that are sorted like the times, for every timestamp', () => {
    const timestamp = fc.oneof(fc.double(), fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n).map(Number))
    fc.assert(
      fc.property(timestamp, timestamp, (one, other) => {
        const [first, second] = [one, other].map(isoTime) as [string, string]
        expect(first).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
        if (recordTime(one) < recordTime(other)) expect(first <= second).to.equal(true)
      }),
    )
  })

  it('keeps every time from 1970 to 9999', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), (at) => recordTime(at) === at))
  })
})
