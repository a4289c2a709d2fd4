import { Refused } from '@orderflow/service-kit'
import { expect } from 'chai'
import { bodyTypes, itemsOf, maxItems } from '../src/body.ts'

const items = (body: string, type: Parameters<typeof itemsOf>[1] = bodyTypes.json) =>
  itemsOf(Buffer.from(body), type).map(({ text, ...item }) => ({ ...item, text: Buffer.from(text).toString() }))
const refusalOf = (body: string, type?: Parameters<typeof itemsOf>[1]) => {
  try {
    items(body, type)
  } catch (error) {
    const { name, code, message } = error as Refused
    expect(name).to.equal('Refused')
    expect(message, 'next step').to.match(/^(Send|Check) .+\.$/)
    return code
  }
  return undefined
}

describe('itemsOf', () => {
  it('returns one envelope, or the elements of a list with their indexes', () => {
    expect(items(' {"a": 1} ')).to.deep.equal([{ index: 0, text: '{"a": 1}' }])
    expect(items('[ {"a": 1.0} ,null]')).to.deep.equal([
      { index: 0, text: '{"a": 1.0}' },
      { index: 1, text: 'null' },
    ])
  })

  it('returns the non-blank lines with their line numbers', () => {
    expect(items('\ufeff{}\r\n\n  \n{"a":1}', bodyTypes.lines)).to.deep.equal([
      { index: 0, line: 1, text: '{}' },
      { index: 1, line: 4, text: '{"a":1}' },
    ])
    expect(items('[{},{}]\n', bodyTypes.lines)).to.deep.equal([{ index: 0, line: 1, text: '[{},{}]' }])
  })

  it('searches the end of lines with content only, so that a body of line breaks takes little time', () => {
    for (const blank of ['\n', '\r\n', ' \t\n', '\ufeff\n']) {
      const body = Buffer.from(`${blank.repeat(10_000)}{}\n${blank.repeat(10_000)}`)
      let searches = 0
      body.indexOf = ((code: number, from: number) => {
        searches += 1
        return Buffer.prototype.indexOf.call(body, code, from)
      }) as Buffer['indexOf']
      expect(itemsOf(body, bodyTypes.lines).map(({ line }) => line)).to.deep.equal([10_001])
      expect(searches).to.equal(1)
    }
  })

  it('rejects a body without an envelope', () => {
    for (const body of ['', ' \n', '[]', ' [ ] ']) expect(refusalOf(body), body).to.equal('nothing-sent')
    expect(refusalOf(' \n\r\n\n', bodyTypes.lines)).to.equal('nothing-sent')
  })

  it(`returns up to ${maxItems} envelopes, and rejects a body with more`, () => {
    const many = (count: number) => `[${Array(count).fill('{}').join()}]`
    expect(items(many(maxItems))).to.have.length(maxItems)
    expect(items('{}\n'.repeat(maxItems), bodyTypes.lines)).to.have.length(maxItems)
    expect(refusalOf(many(maxItems + 1))).to.equal('too-many-items')
    expect(refusalOf('{}\n'.repeat(maxItems + 1), bodyTypes.lines)).to.equal('too-many-items')
  })

  it('rejects a list without an end', () => {
    expect(refusalOf('[{}')).to.equal('not-json')
    expect(() => items('[{}')).to.throw(Refused, /Nothing was published/)
  })
})
