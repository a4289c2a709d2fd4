import { expect } from 'chai'
import { slices } from '../../src/operations/rebuild.ts'

const mebibyte = 1024 * 1024
const ofBytes = (...sizes: number[]) => sizes.map((size) => ({ value: new Uint8Array(size) }))
const lengths = (...args: Parameters<typeof slices>) => slices(...args).map(({ length }) => length)

describe('slices', () => {
  it('limits a slice to two MiB', () => {
    expect(lengths(ofBytes(mebibyte, mebibyte, 0, 1, mebibyte), 9)).to.deep.equal([3, 2])
  })

  it('puts a larger item into a separate slice', () => {
    expect(lengths(ofBytes(3 * mebibyte, 3 * mebibyte, 1), 9)).to.deep.equal([1, 1, 1])
  })

  it('limits the number of items in a slice', () => {
    expect(lengths(ofBytes(1, 1, 1, 1, 1), 2)).to.deep.equal([2, 2, 1])
  })

  it('keeps every item and the order of the items', () => {
    const items = ofBytes(mebibyte, mebibyte, mebibyte)
    expect(slices(items, 3).flat()).to.deep.equal(items)
    expect(slices([], 3)).to.deep.equal([])
  })
})
