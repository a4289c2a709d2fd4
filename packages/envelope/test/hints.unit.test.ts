import { expect } from 'chai'
import { dateTimeHint, dateTypeHint, guidHint, missingFieldHint, typeHint } from '../src/validation/hints.ts'

const guid = '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d'
const hex = guid.replaceAll('-', '')

describe('hints', () => {
  const guids: Record<string, string[]> = {
    'remove the urn:uuid: prefix': [`urn:uuid:${guid}`, `URN:UUID:${guid}`],
    'remove the brackets around it': [`{${guid}}`, `(${guid})`],
    'put hyphens into it: 8-4-4-4-12': [hex, hex.toUpperCase()],
    'remove the white space around it': [` ${guid}`, `${guid}\t`, `${guid}\n`],
    none: [
      '',
      'abc',
      `id:urn:uuid:${guid}`,
      `x{${guid}}`,
      `{${guid}}x`,
      `{${guid}`,
      `${guid})`,
      `${hex}0`,
      `0${hex}`,
      'a b',
    ],
  }
  const dates: Record<string, string[]> = {
    'remove the white space around it': [' 2026-01-31T12:00:00Z', '2026-01-31T12:00:00Z\n', ' 2026-01-31'],
    'give a year from 0001 to 9999': ['0000-01-31T12:00:00Z', '0000-01-31'],
    'put T between the date and the time': ['2026-01-31 12:00:00Z', '2026-01-31t12:00:00Z', '2026-01-31 12:00'],
    'add the time and an offset, such as T00:00:00Z': ['2026-01-31'],
    'add Z or an offset such as +00:00; in Java use Instant or OffsetDateTime, not LocalDateTime; in .NET use DateTimeOffset, or DateTime with DateTimeKind.Utc':
      [
        '2026-01-31T12:00',
        '2026-01-31T12:00:00',
        '2026-01-31T12:00:00.5',
        '2026-11-25T10:00:00.1234567',
        '2026-01-31T12:00:00,123',
      ],
    'write the offset with hours and minutes, such as +00:00': [
      '2026-01-31T12:00:00+01',
      '2026-01-31T12:00:00+0100',
      '2026-01-31T12:00:00-0500',
    ],
    'remove the time zone in brackets and keep the offset; in Java use ZonedDateTime.toOffsetDateTime()': [
      '2026-11-25T10:00:00+01:00[Europe/Berlin]',
      '2026-11-25T10:00Z[UTC]',
      '2026-11-25T10:00:00Z[Etc/GMT+1]',
    ],
    'this is the old JSON date of .NET: write ISO 8601; in Newtonsoft.Json set DateFormatHandling.IsoDateFormat, in System.Text.Json send a DateTimeOffset':
      ['/Date(1764064800000)/', '/Date(1764064800000+0100)/'],
    'this looks like a Unix time: write ISO 8601; in Java with Jackson disable WRITE_DATES_AS_TIMESTAMPS, in .NET send a DateTimeOffset':
      ['1764064800', '1764064800000', '1764064800.123456789'],
    'this looks like a Java date as a list of numbers: use Instant or OffsetDateTime; in Jackson register JavaTimeModule and disable WRITE_DATES_AS_TIMESTAMPS':
      ['[2026,11,25,10,0]', '[2026, 11, 25, 10, 0, 30]'],
    'write ISO 8601: Instant.toString() in Java, ToString("O") of a DateTimeOffset in .NET, toISOString() in JavaScript':
      [
        'Wed Nov 25 10:00:00 CET 2026',
        'Wed, 25 Nov 2026 10:00:00 GMT',
        '11/25/2026 10:00:00 AM',
        '25.11.2026 10:00:00',
      ],
    'give a month from 01 to 12': ['2026-13-31T12:00:00Z', '2026-00-31T12:00:00Z'],
    'name a day that exists: this month is shorter': [
      '2026-02-30T12:00:00Z',
      '2026-11-31T12:00Z',
      '2026-01-00T12:00:00Z',
    ],
    'write 24:00 as 00:00 of the next day': ['2026-01-31T24:00:00Z'],
    'write a leap second as second 59, or as second 00 of the next minute': ['2016-12-31T23:59:60Z'],
    'write a point before the fraction of a second, not a comma': ['2026-01-31T12:00:00,123Z'],
    'give at most 9 digits of a second': ['2026-01-31T12:00:00.1234567890+01:00'],
    'add the seconds, such as :00; in Java format with DateTimeFormatter.ISO_OFFSET_DATE_TIME, since toString() leaves out zeros':
      ['2026-01-31T12:00Z', '2026-01-31T12:00+01:00'],
    none: [
      '',
      'yesterday',
      '10000-01-31T12:00:00Z',
      'on 2026-01-31 12:00',
      '12:00:00',
      '2026-01-31T25:00:00Z',
      '20260131',
    ],
  }
  for (const [kind, hintOf, values] of [
    ['GUID', guidHint, guids],
    ['date-time', dateTimeHint, dates],
  ] as const) {
    for (const [hint, texts] of Object.entries(values)) {
      it(`gives a wrong ${kind} this hint: ${hint === 'none' ? 'none' : `"${hint}"`}`, () => {
        for (const text of texts) expect(hintOf(text), text).to.equal(hint === 'none' ? undefined : hint)
      })
    }
  }

  it('describes the probable mistake for a value of a wrong type', () => {
    expect(typeHint('object', [])).to.equal('send one object, not a list')
    expect(typeHint('object', ' {"a": 1}')).to.equal('send the object itself, not a string of JSON')
    for (const text of ['12.5', '-1e3', ' 7 ']) {
      expect(typeHint('number', text), text).to.equal('send it without quotes: 12.5, not "12.5"')
    }
    const others = [
      ['object', 'a {'],
      ['object', '12.5'],
      ['object', 12.5],
      ['number', []],
      ['number', ''],
      ['number', ' '],
      ['number', 'twelve'],
      ['number', 'Infinity'],
      ['string', 12.5],
    ] as const
    for (const [wanted, value] of others) expect(typeHint(wanted, value), `${wanted} ${value}`).to.equal(undefined)
  })

  it('asks for a number without quotes if a Version is in quotes, and names the type to declare', () => {
    const hint = 'send it without quotes: 1, not "1"; in Java and C# declare the field as int, not as a string'
    for (const text of ['1', ' 12 ', '1.0']) expect(typeHint('integer', text), text).to.equal(hint)
    for (const text of ['v1', '', 'Infinity']) expect(typeHint('integer', text), text).to.equal(undefined)
  })

  it('names the serializer that wrote a date as another type, and the setting of this serializer', () => {
    for (const value of [1764064800000, 1764064800.123456])
      expect(dateTypeHint(value)).to.match(/^this looks like a Unix time: /)
    expect(dateTypeHint([2026, 11, 25, 10, 0])).to.match(/^this looks like a Java date as a list of numbers: /)
    for (const value of [[], ['2026'], {}, null, true]) expect(dateTypeHint(value)).to.equal(undefined)
  })

  it('suggests renaming a key whose name is similar to the name of a missing field', () => {
    expect(missingFieldHint({ Other: 1, total_amount: 2 }, 'TotalAmount')).to.equal(
      'rename total_amount to TotalAmount',
    )
    expect(missingFieldHint({ createDate: 1 }, 'CreationDate')).to.equal('rename createDate to CreationDate')
    expect(missingFieldHint({ Other: 1, createDate: 1 }, 'AppId')).to.equal(undefined)
    expect(missingFieldHint({}, 'AppId')).to.equal(undefined)
  })

  it('omits keys that are much longer than the missing field', () => {
    expect(missingFieldHint({ 'app-----id': 1 }, 'AppId')).to.equal('rename app-----id to AppId')
    expect(missingFieldHint({ 'app------id': 1 }, 'AppId')).to.equal(undefined)
  })
})
