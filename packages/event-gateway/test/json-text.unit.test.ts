import { expect } from 'chai'
import fc from 'fast-check'
import { elementsOf, isList, trimmed } from '../src/body.ts'

const bytes = (text: string) => Buffer.from(text)
const textOf = (part: Uint8Array) => Buffer.from(part).toString()
const elements = (text: string) => elementsOf(bytes(text), 100)?.map(textOf)

describe('elementsOf', () => {
  it('returns the original bytes of each element that JSON.parse would return', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 1, '\t', '\r\n '), (list, space) => {
        const scanned = elements(JSON.stringify(list, null, space))
        expect(scanned?.map((text) => JSON.parse(text))).to.deep.equal(JSON.parse(JSON.stringify(list)))
      }),
    )
    expect(elements('[1.0, {"a":"],}\\"[" }, "é\\u00e9"]')).to.deep.equal(['1.0', '{"a":"],}\\"[" }', '"é\\u00e9"'])
  })

  it('returns an empty element for a superfluous comma', () => {
    expect(elements('[]')).to.deep.equal([])
    expect(elements('[,]')).to.deep.equal(['', ''])
    expect(elements('[{},]')).to.deep.equal(['{}', ''])
  })

  it('stops after one element more than the limit', () => {
    expect(elementsOf(bytes(`[${','.repeat(4_000_000)}]`), 3)).to.have.length(4)
    expect(elementsOf(bytes('[1,2,3]'), 3)).to.have.length(3)
    for (const text of ['[1,2,3', '[1,2,3,']) expect(elementsOf(bytes(text), 3), text).to.equal(undefined)
  })

  it('returns undefined if the list does not end where the text ends', () => {
    for (const text of ['[', '[{}', '[{}]]', '[{}] ,', '[{}}', '["a]', '["\\"]', '[{}]x']) {
      expect(elements(text), text).to.equal(undefined)
    }
  })

  it('recognizes a list after white space and a byte order mark', () => {
    expect(isList(trimmed(bytes('\ufeff \r\n\t[] ')))).to.equal(true)
    expect(isList(trimmed(bytes('{"a":[]}')))).to.equal(false)
    expect(textOf(trimmed(bytes('\ufeff{} \n')))).to.equal('{}')
    expect(textOf(trimmed(bytes(' \n')))).to.equal('')
    const half = Buffer.from([0xef, 0xbb, 0x31])
    expect(trimmed(half)).to.deep.equal(half)
  })
})
