import { expect } from 'chai'
import fc from 'fast-check'
import { parsePosition, positionText, precedes, type RecordPosition } from '../src/record.ts'

describe('parsePosition and positionText', () => {
  it('converts a position to text and back', () => {
    const anyPosition = fc.record({
      topic: fc.constantFrom('orderevents', 'a.b-c_d'),
      partition: fc.nat(999),
      offset: fc.bigInt(0n, 2n ** 63n - 1n).map(String),
    })
    fc.assert(
      fc.property(anyPosition, (position) => {
        expect(parsePosition(positionText(position))).to.deep.equal(position)
      }),
    )
  })

  it('accepts the largest offset', () => {
    const offset = '9223372036854775807'
    expect(parsePosition(`a/0/${offset}`)).to.deep.equal({ topic: 'a', partition: 0, offset })
  })

  for (const text of ['', 'a', 'a/1', 'a/1/2/3', 'a/01/1', 'a/1/-1', 'a/1/1e3', 'a b/1/1', 'a/1/9223372036854775808']) {
    it(`refuses the text "${text}"`, () => {
      expect(parsePosition(text)).to.equal(undefined)
    })
  }

  it('`precedes` returns true only if the second position is later in the same partition', () => {
    const nine: RecordPosition = { topic: 'a', partition: 1, offset: '9' }
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
