import { expect } from 'chai'
import { credentialIn } from '../../page/lib/format.ts'

describe('credentialIn', () => {
  it('accepts a key or token that is surrounded by spaces or follows Bearer', () => {
    for (const text of ['ofk_Ab3_x-y', '  ofk_Ab3_x-y\n', 'Bearer ofk_Ab3_x-y', 'bearer  ofk_Ab3_x-y'])
      expect(credentialIn(text), text).to.equal('ofk_Ab3_x-y')
    expect(credentialIn('eyJh.eyJz.a-_/+~=')).to.equal('eyJh.eyJz.a-_/+~=')
  })

  it('refuses a text with characters that a key or token cannot contain', () => {
    for (const text of ['', '  ', 'two words', '"ofk_1"', 'ofk_1\r\nx: y', 'Schlüssel', '\u{1f511}', 'Bearer '])
      expect(credentialIn(text), text).to.equal(null)
  })
})
