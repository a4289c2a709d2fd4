import { expect } from 'chai'
import { slices } from '../../src/stream/record.ts'

const mebibyte = 1024 * 1024
const ofBytes = (...sizes: number[]) => sizes.map((size) => ({ value: new Uint8Array(size) }))
/** How many items are in each slice. */
const lengths = (...args: Parameters<typeof slices>) => slices(...args).map(({ length }) => length)

describe('slices', () => {
  it('hold two MiB and not a byte more', () => {
    expect(lengths(ofBytes(mebibyte, mebibyte, 0, 1, mebibyte))).to.deep.equal([3, 2])
  })

  it('hold a single item that is larger', () => {
    expect(lengths(ofBytes(3 * mebibyte, 3 * mebibyte, 1))).to.deep.equal([1, 1, 1])
  })

  it('hold no more items than they may', () => {
    expect(lengths(ofBytes(1, 1, 1, 1, 1), 2)).to.deep.equal([2, 2, 1])
  })

  it('have every item, in order', () => {
    const items = ofBytes(mebibyte, mebibyte, mebibyte)
    expect(slices(items).flat()).to.deep.equal(items)
    expect(slices([])).to.deep.equal([])
  })
})
