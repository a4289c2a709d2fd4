import { expect } from 'chai'
import { dateTimeHint, guidHint, missingFieldHint, typeHint } from '../src/validation/hints.ts'

const guid = '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d'
const hex = guid.replaceAll('-', '')

describe('a hint', () => {
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
    'add Z or an offset such as +00:00': [
      '2026-01-31T12:00',
      '2026-01-31T12:00:00',
      '2026-01-31T12:00:00.5',
      '2026-01-31T12:00:00.123',
      '2026-01-31T12:00:00,123',
    ],
    'write the offset with hours and minutes, such as +00:00': [
      '2026-01-31T12:00:00+01',
      '2026-01-31T12:00:00+0100',
      '2026-01-31T12:00:00-0500',
    ],
    none: [
      '',
      'yesterday',
      '10000-01-31T12:00:00Z',
      '2026-13-31T12:00:00Z',
      'on 2026-01-31 12:00',
      '12:00:00',
      '1/31/2026',
    ],
  }
  for (const [kind, hintOf, values] of [
    ['GUID', guidHint, guids],
    ['date-time', dateTimeHint, dates],
  ] as const) {
    for (const [hint, texts] of Object.entries(values)) {
      it(`to a wrong ${kind} is ${hint === 'none' ? 'none' : `"${hint}"`} where that is the mistake`, () => {
        for (const text of texts) expect(hintOf(text), text).to.equal(hint === 'none' ? undefined : hint)
      })
    }
  }

  it('to a value of a wrong type says what the sender has probably done', () => {
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

  it('to a missing field names the key that was meant to be it', () => {
    expect(missingFieldHint({ Other: 1, total_amount: 2 }, 'TotalAmount')).to.equal(
      'rename total_amount to TotalAmount',
    )
    expect(missingFieldHint({ createDate: 1 }, 'CreationDate')).to.equal('rename createDate to CreationDate')
    expect(missingFieldHint({ Other: 1, createDate: 1 }, 'AppId')).to.equal(undefined)
    expect(missingFieldHint({}, 'AppId')).to.equal(undefined)
  })

  it('to a missing field repeats no key that is much longer', () => {
    expect(missingFieldHint({ 'app-----id': 1 }, 'AppId')).to.equal('rename app-----id to AppId')
    expect(missingFieldHint({ 'app------id': 1 }, 'AppId')).to.equal(undefined)
  })
})
