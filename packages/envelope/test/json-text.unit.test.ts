import { expect } from 'chai'
import fc from 'fast-check'
import { decimalPlaces, hiddenByParsing } from '../src/validation/json-text.ts'

const bytes = (text: string) => Buffer.from(text)

describe('hiddenByParsing: duplicate keys', () => {
  const twice = (text: string) => hiddenByParsing(bytes(text)).duplicateKeys

  it('finds no duplicate keys in the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(twice(JSON.stringify(value))).to.deep.equal([])
      }),
    )
  })

  it('reports the keys from the root to each duplicate key, even if the duplicates have different spellings', () => {
    expect(twice('{"a":1,"b":2,"a":3}')).to.deep.equal([['a']])
    expect(twice('{"a":1,"\\u0061":3}')).to.deep.equal([['a']])
    expect(twice('{"a":{"b":1,"c":{},"b":"\\"b\\":"}}')).to.deep.equal([['a', 'b']])
    expect(twice('{"a":1,"a":2,"a":3}')).to.deep.equal([['a'], ['a']])
    expect(twice('{"a":[{"b":1},{"b":1,"b":2}]}')).to.deep.equal([['a']])
    expect(twice('{"a":{"b":{}},"a":1}')).to.deep.equal([['a']])
    expect(twice('{"a":[{"b":{"c":1,"c":2}}]}')).to.deep.equal([['a']])
    expect(twice('{"":1,"":2}')).to.deep.equal([['']])
  })

  it('reports at most 20 duplicates', () => {
    expect(twice(`{${'"a":1,'.repeat(40_000)}"a":1}`)).to.have.length(20)
  })

  it('ignores equal keys of two objects, and equal values', () => {
    expect(twice('{"a":{"a":{"a":"a"}},"b":{"a":"b"},"c":["a","a",{"a":1},{"a":1}]}')).to.deep.equal([])
  })

  it('finds duplicates at any depth', () => {
    const depth = 100_000
    expect(twice(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)).to.deep.equal([])
    expect(twice(`${'{"a":'.repeat(depth)}{"b":1,"b":2}${'}'.repeat(depth)}`)).to.deep.equal([['a', 'a', 'a']])
  })
})

describe('hiddenByParsing: inexact numbers', () => {
  const inexact = (text: string) => hiddenByParsing(bytes(text)).inexactNumbers

  it('finds no inexact numbers in the output of JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.double({ noNaN: true, noDefaultInfinity: true }), (value, number) => {
        expect(inexact(JSON.stringify({ value, number }, null, 1))).to.deep.equal([])
      }),
    )
  })

  for (const number of ['0.1', '42.50', '-0', '-0.0e5', '1E+2', '1e22', '100e-2', '0.30000000000000004', '1e-300']) {
    it(`ignores ${number}, which a double keeps`, () => {
      expect(inexact(`{"a": ${number} }`)).to.deep.equal([])
    })
  }

  for (const number of [
    '999999999999.999999',
    '1000000000000.00000001',
    '9007199254740993',
    '42.549999999999997',
    '1e-400',
    '-1e-400',
    '1e400',
  ]) {
    it(`reports ${number}, which a double changes`, () => {
      expect(inexact(`{"a": ${number} }`)).to.deep.equal([['a']])
      expect(inexact(`{"a": [1, {"b": ${number}}]}`)).to.deep.equal([['a']])
    })
  }

  it('ignores decimals with up to 15 digits and reports those with 20, in any spelling', () => {
    const digits = (length: number) =>
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: length, maxLength: length }).map((all) => all.join(''))
    const at = fc.integer({ min: -30, max: 30 })
    fc.assert(
      fc.property(digits(15), at, (text, exponent) => {
        expect(inexact(`{"a":${text}e${exponent}}`)).to.deep.equal([])
        expect(inexact(`{"a":${text[0]}.${text.slice(1)}0000000000}`)).to.deep.equal([])
      }),
    )
    fc.assert(
      fc.property(digits(20), at, (text, exponent) => {
        expect(inexact(`{"a":${text}e${exponent}}`)).to.deep.equal([['a']])
      }),
    )
  })

  it('reads a number of millions of digits in linear time', () => {
    const zeros = '0'.repeat(2_000_000)
    expect(inexact(`{"a":1${zeros}1${zeros}1.5}`)).to.deep.equal([['a']])
  })

  it('reports at most 20 numbers', () => {
    expect(inexact(`[${'1e400,'.repeat(1_000)}1]`)).to.have.length(20)
  })
})

describe('decimalPlaces', () => {
  it('counts the decimals in the shortest text of a number', () => {
    const cases: [number, number][] = [
      ...([
        [0, 0],
        [-0, 0],
        [42.5, 1],
        [42.55, 2],
        [1.005, 3],
        [1e12, 0],
        [1e21, 0],
        [1.5e21, 0],
      ] as const),
      ...([
        [1e-7, 7],
        [1.25e-7, 9],
        [1e-300, 300],
        [0.1 + 0.2, 17],
      ] as const),
    ].map(([value, places]) => [value, places])
    for (const [value, places] of cases) expect(decimalPlaces(value), String(value)).to.equal(places)
  })

  it('returns at most 2 for an amount of whole cents', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e14 }), (cents) => {
        expect(decimalPlaces(cents / 100)).to.be.at.most(2)
      }),
    )
  })
})
