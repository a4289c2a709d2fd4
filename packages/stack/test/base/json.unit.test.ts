import { expect } from 'chai'
import { withMember, withValues } from '../../src/base/json.ts'

const json = `{
  // A comment with "a": 1 in it.
  "a": 1, "b": { "a": [1,
    2], /* end */ },
  "c": {}
}
`

describe('withValues', () => {
  it('replaces only the values, and keeps layout and comments', () => {
    const changed = json.replace('"a": 1, "b"', '"a": 20, "b"').replace('[1,\n    2]', '["x"]')
    expect(
      withValues(json, [
        [['a'], '20'],
        [['b', 'a'], '["x"]'],
        [['d'], '1'],
      ]),
    ).to.equal(changed)
  })
})

describe('withMember', () => {
  it('adds a last member to an object that has one', () => {
    expect(withMember(json, ['b'], '"d": 1')).to.equal(json.replace('2],', '2],\n"d": 1,'))
    expect([withMember(json, ['c'], '"d": 1'), withMember(json, ['d'], '"d": 1')]).to.deep.equal([undefined, undefined])
  })
})
