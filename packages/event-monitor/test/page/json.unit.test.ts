import { expect } from 'chai'
import fc from 'fast-check'
import { isMask, jsonLines } from '../../page/lib/json.ts'
import { pointerRanges, rangeOf } from '../../page/parts/json-ranges.ts'

const textOf = (document: unknown) =>
  jsonLines(document, [], 100_000)
    .map(({ depth, tokens }) => '  '.repeat(depth) + tokens.map(({ text }) => text).join(''))
    .join('\n')

describe('jsonLines', () => {
  it('returns lines that form the original JSON, for all kinds of values', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        expect(textOf(document)).to.equal(JSON.stringify(document, null, 2))
      }),
    )
  })

  it('puts each fault at the line of its value, or at the line of the parent if the value is missing', () => {
    const faults = [
      { pointer: '/Payload/Total', message: 'must be number' },
      { pointer: '/Payload/a~1b/0', message: 'is odd' },
      { pointer: '/Payload/Currency', message: 'is missing' },
      { pointer: '', message: 'is no envelope' },
    ]
    const lines = jsonLines({ Payload: { Total: '1', 'a/b': [true] } }, faults)
    const at = lines.map(({ faults }) => faults.map(({ message }) => message).join())
    expect(at).to.deep.equal(['is no envelope', 'is missing', 'must be number', '', 'is odd', '', '', ''])
  })

  it('marks exactly the masked values', () => {
    const [masked, plain] = [
      ['***{/Payload/CustomerName}***', '*** (12 characters)'],
      ['***', 'a ***{x}***', '*** (x)'],
    ]
    expect(masked.map(isMask)).to.deep.equal([true, true])
    expect(plain.map(isMask)).to.deep.equal([false, false, false])
  })

  it('cuts a long document, and reports this in the last line', () => {
    const lines = jsonLines(Array.from({ length: 9000 }, () => 0))
    expect(lines).to.have.length(5001)
    expect(lines.at(-1)?.tokens[0]?.text).to.contain('too long')
  })
})

describe('pointerRanges', () => {
  const text = '{ "a": [1, {"b/c": "x\\"}"}], "d" : null }'
  const at = (pointer: string) => {
    const { from, to } = rangeOf(pointerRanges(text), pointer)
    return text.slice(from, to)
  }

  it('returns the range of each value with its field name', () => {
    expect(['/a/0', '/a/1/b~1c', '/d'].map(at)).to.deep.equal(['1', '"b/c": "x\\"}"', '"d" : null'])
  })

  it('returns the first character of the parent if a value is missing', () => {
    expect(at('/a/1/z')).to.equal('{')
    expect(at('/z')).to.equal('{')
  })

  it('returns the ranges of all values before a syntax error', () => {
    const ranges = pointerRanges('{"a": 1, "b": }')
    expect([...ranges.keys()]).to.deep.equal(['/a'])
    for (const broken of ['', '{', '[1,', '"', '{"a"', '{"a":"\\x"}', 'nul]'])
      expect(() => pointerRanges(broken)).not.to.throw()
  })

  it('returns the range of every value of a random document', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (document) => {
        const written = JSON.stringify(document, null, 1)
        for (const { from, to } of pointerRanges(written).values()) {
          const value = written.slice(from, to).replace(/^"(?:[^"\\]|\\.)*":\s*/, '')
          expect(() => JSON.parse(value)).not.to.throw()
        }
        expect(pointerRanges(written).get('')).to.deep.equal({ from: 0, to: written.length })
      }),
    )
  })
})
