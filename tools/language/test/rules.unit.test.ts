import { expect } from 'chai'
import { rules } from '../rules/index.ts'
import { sentencesOf } from '../rules/rule.ts'

describe('rules of language', () => {
  for (const { name, kinds, examples, check } of rules) {
    const kind = kinds?.[0] ?? 'comment'
    for (const { bad, good } of examples) {
      it(`reports “${bad}” by the rule ${name}`, () => {
        const found = check(bad, kind)
        expect(found).to.have.lengthOf.at.least(1)
        for (const { index, length } of found) expect(bad.slice(index, index + length)).to.have.lengthOf(length)
      })

      it(`accepts “${good}” by every rule`, () => {
        const all = rules.filter((rule) => rule.kinds?.includes(kind) ?? true)
        expect(all.flatMap((rule) => rule.check(good, kind))).to.deep.equal([])
      })
    }
  }

  it('reports the index of every match of a pattern', () => {
    const text = 'It reads anew, and anew.'
    const [phrases] = rules
    expect(phrases?.check(text, 'comment').map(({ index }) => index)).to.deep.equal([9, 19])
  })

  it('accepts ordinary uses of words that are banned elsewhere', () => {
    const texts = [
      'Returns undefined if there is none.',
      'It counts the events.',
      'The time taken in seconds.',
      'letters and digits',
      'By default, a topic has three partitions.',
      'If it is set, the service signs its events.',
    ]
    const found = texts.flatMap((text) =>
      rules.flatMap(({ kinds, check }) => (!kinds || kinds.includes('doc comment') ? check(text, 'doc comment') : [])),
    )
    expect(found).to.deep.equal([])
  })
})

describe('sentencesOf', () => {
  it('splits at a full stop before a capital, a number or code', () => {
    const text = 'Reads 1.5 MB, e.g. a file. Then it stops! 3 of them remain? \uFFFC ends.'
    expect(sentencesOf(text).map(({ sentence }) => sentence)).to.deep.equal([
      'Reads 1.5 MB, e.g. a file.',
      'Then it stops!',
      '3 of them remain?',
      '\uFFFC ends.',
    ])
  })
})
