import { fullFormats } from 'ajv-formats/dist/formats.js'
import { expect } from 'chai'
import fc from 'fast-check'
import { formats } from '../src/formats.ts'

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

  it('is what ajv-formats says, of any text that looks like one', () => {
    const parts = fc.tuple(year, near(13), near(32), separators, near(24), near(60), near(61), fraction, offset)
    fc.assert(
      fc.property(parts, ([years, month, day, separator, hour, minute, second, rest, zone]) => {
        const text = `${years}-${month}-${day}${separator}${hour}:${minute}:${second}${rest}${zone}`
        expect(formats['date-time'](text), text).to.equal(validate(text))
      }),
      { numRuns: 5_000 },
    )
  })

  it('knows the days of each month', () => {
    for (const day of ['2024-02-29', '2025-01-31', '2025-02-28'])
      expect(formats['date-time'](`${day}T00:00:00Z`)).to.equal(true)
    for (const day of ['2025-02-29', '2025-04-31', '2025-01-32'])
      expect(formats['date-time'](`${day}T00:00:00Z`)).to.equal(false)
  })
})
