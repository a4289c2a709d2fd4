import { expect } from 'chai'
import { bytes, clock, counted, duration, moment, rate, shortId, shownOf, since, until } from '../../page/lib/format.ts'

describe('numbers and times on the page', () => {
  const cases: [string, string, string][] = [
    ['a short time', duration(349.6), '350 ms'],
    ['seconds', duration(2400), '2.4 s'],
    ['nearly a minute', duration(59_990), '1 min'],
    ['minutes', duration(200_000), '3 min 20 s'],
    ['hours', duration(7_500_000), '2 h 5 min'],
    ['days', duration(273_600_000), '3 d 4 h'],
    ['a negative duration', duration(-2400), '−2.4 s'],
    ['milliseconds since a start', since(45), '+45 ms'],
    ['minutes since a start', since(240_080), '+4:00.080'],
    ['hours since a start', since(86_640_070), '+24:04:00.070'],
    ['a slow rate', rate(0.44), '0.4/s'],
    ['a fast rate', rate(10_204.4), '10,204/s'],
    ['the number of shown rows', shownOf(20, { total: 12_345, isAtLeast: false }), '20 of 12,345 shown'],
    [
      'the number of shown rows of an incomplete count',
      shownOf(20, { total: 20_000, isAtLeast: true }),
      '20 of at least 20,000 shown',
    ],
    ['one byte', bytes(1), '1 byte'],
    ['many bytes', bytes(1_500_000), '1.4 MiB'],
    ['a count', counted(1, 'entry', 'entries'), '1 entry'],
    ['counts', counted(12_345, 'entry', 'entries'), '12,345 entries'],
    ['a GUID', shortId('9c1f2e3d-4b5a-4678-90ab-cdef01234567'), '9c1f2e3d'],
    ['another id', shortId('order-7'), 'order-7'],
    ['an invalid time', moment('soon'), 'soon'],
  ]
  for (const [what, text, expected] of cases)
    it(`formats ${what} as ${expected}`, () => expect(text).to.equal(expected))

  it('formats the time of a deadline, with the day if it is not today', () => {
    const [due, today, yesterday] = [21, 21, 20].map((day) => new Date(2026, 10, day, 14, 30, 59)) as [Date, Date, Date]
    expect(until(due.toISOString(), today)).to.equal('14:30')
    expect(until(due.toISOString(), yesterday)).to.equal('2026-11-21 14:30')
  })

  it('formats a clock time with milliseconds', () => {
    const date = new Date(2026, 10, 21, 9, 5, 3, 7)
    expect([clock(date.toISOString()), moment(date.toISOString())]).to.deep.equal([
      '09:05:03.007',
      '2026-11-21 09:05:03',
    ])
  })
})
