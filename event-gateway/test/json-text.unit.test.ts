import { expect } from 'chai'
import fc from 'fast-check'
import { duplicateKeys, elementsOf, isList, trimmed } from '../src/domain/json-text.ts'

const bytes = (text: string) => Buffer.from(text)
const textOf = (part: Uint8Array) => Buffer.from(part).toString()
const elements = (text: string) => elementsOf(bytes(text), 100)?.map(textOf)

describe('a list in a JSON text', () => {
  it('has the elements that JSON.parse finds, in the bytes that came', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 1, '\t', '\r\n '), (list, space) => {
        const found = elements(JSON.stringify(list, null, space))
        expect(found?.map((text) => JSON.parse(text))).to.deep.equal(JSON.parse(JSON.stringify(list)))
      }),
    )
    expect(elements('[1.0, {"a":"],}\\"[" }, "é\\u00e9"]')).to.deep.equal(['1.0', '{"a":"],}\\"[" }', '"é\\u00e9"'])
  })

  it('has an element for each comma, so that nothing is left out unnoticed', () => {
    expect(elements('[]')).to.deep.equal([])
    expect(elements('[,]')).to.deep.equal(['', ''])
    expect(elements('[{},]')).to.deep.equal(['{}', ''])
  })

  it('has no more of them than are asked for, and one', () => {
    expect(elementsOf(bytes(`[${','.repeat(4_000_000)}]`), 3)).to.have.length(4)
    expect(elementsOf(bytes('[1,2,3]'), 3)).to.have.length(3)
    for (const text of ['[1,2,3', '[1,2,3,']) expect(elementsOf(bytes(text), 3), text).to.equal(undefined)
  })

  it('is none when it does not end where the text does', () => {
    for (const text of ['[', '[{}', '[{}]]', '[{}] ,', '[{}}', '["a]', '["\\"]', '[{}]x']) {
      expect(elements(text), text).to.equal(undefined)
    }
  })

  it('is known by its bracket, behind white space and a byte order mark', () => {
    expect(isList(trimmed(bytes('\ufeff \r\n\t[] ')))).to.equal(true)
    expect(isList(trimmed(bytes('{"a":[]}')))).to.equal(false)
    expect(textOf(trimmed(bytes('\ufeff{} \n')))).to.equal('{}')
    expect(textOf(trimmed(bytes(' \n')))).to.equal('')
    const half = Buffer.from([0xef, 0xbb, 0x31])
    expect(trimmed(half)).to.deep.equal(half)
  })
})

describe('the keys that a JSON text has twice', () => {
  const twice = (text: string) => duplicateKeys(bytes(text))

  it('are none in what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(twice(JSON.stringify(value))).to.deep.equal([])
      }),
    )
  })

  it('are told by the keys that lead to them, however they are written', () => {
    expect(twice('{"a":1,"b":2,"a":3}')).to.deep.equal([['a']])
    expect(twice('{"a":1,"\\u0061":3}')).to.deep.equal([['a']])
    expect(twice('{"a":{"b":1,"c":{},"b":"\\"b\\":"}}')).to.deep.equal([['a', 'b']])
    expect(twice('{"a":1,"a":2,"a":3}')).to.deep.equal([['a'], ['a']])
    expect(twice('{"a":[{"b":1},{"b":1,"b":2}]}')).to.deep.equal([['a']])
    expect(twice('{"a":{"b":{}},"a":1}')).to.deep.equal([['a']])
    expect(twice('{"a":[{"b":{"c":1,"c":2}}]}')).to.deep.equal([['a']])
    expect(twice('{"":1,"":2}')).to.deep.equal([['']])
  })

  it('are told often enough, however many there are', () => {
    expect(twice(`{${'"a":1,'.repeat(40_000)}"a":1}`)).to.have.length(20)
  })

  it('are not the same key in two objects, or a value', () => {
    expect(twice('{"a":{"a":{"a":"a"}},"b":{"a":"b"},"c":["a","a",{"a":1},{"a":1}]}')).to.deep.equal([])
  })

  it('are looked for as deep as a text nests', () => {
    const depth = 100_000
    expect(twice(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)).to.deep.equal([])
    expect(twice(`${'{"a":'.repeat(depth)}{"b":1,"b":2}${'}'.repeat(depth)}`)).to.deep.equal([['a', 'a', 'a']])
  })
})
