import { expect } from 'chai'
import fc from 'fast-check'
import { type Place, parsePlace, placeText, precedes } from '../../src/stream/record.ts'

describe('a record position', () => {
  it('is written as text and read back', () => {
    const place = fc.record({
      topic: fc.constantFrom('orderevents', 'a.b-c_d'),
      partition: fc.nat(999),
      offset: fc.bigInt(0n, 2n ** 63n - 1n).map(String),
    })
    fc.assert(
      fc.property(place, (place) => {
        expect(parsePlace(placeText(place))).to.deep.equal(place)
      }),
    )
  })

  it('may have the last offset of all', () => {
    const offset = '9223372036854775807'
    expect(parsePlace(`a/0/${offset}`)).to.deep.equal({ topic: 'a', partition: 0, offset })
  })

  for (const text of ['', 'a', 'a/1', 'a/1/2/3', 'a/01/1', 'a/1/-1', 'a/1/1e3', 'a b/1/1', 'a/1/9223372036854775808']) {
    it(`is not "${text}"`, () => {
      expect(parsePlace(text)).to.equal(undefined)
    })
  }

  it('precedes the later ones of its partition alone', () => {
    const nine: Place = { topic: 'a', partition: 1, offset: '9' }
    expect(precedes(nine, { ...nine, offset: '10' })).to.equal(true)
    for (const other of [
      nine,
      { ...nine, offset: '8' },
      { ...nine, topic: 'b', offset: '10' },
      { ...nine, partition: 0, offset: '10' },
    ]) {
      expect(precedes(nine, other)).to.equal(false)
    }
  })
})
