import { expect } from 'chai'
import { median, percentile } from '../report/statistics.ts'

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)

  it('returns the smallest value that the given share of all values does not exceed', () => {
    expect([0, 0.01, 0.5, 0.99, 0.999, 1].map((share) => percentile(hundred, share))).to.deep.equal([
      1, 1, 50, 99, 100, 100,
    ])
  })

  it('returns a single value, and NaN for an empty list', () => {
    expect(percentile([7], 0.5)).to.equal(7)
    expect(percentile([], 0.5)).to.deep.equal(Number.NaN)
  })

  it('leaves the order of the values unchanged', () => {
    const values = [3, 1, 2]
    percentile(values, 0.5)
    expect(values).to.deep.equal([3, 1, 2])
  })
})

describe('median', () => {
  it('returns the middle value, or the mean of the two middle values', () => {
    expect(median([30, 1, 2])).to.equal(2)
    expect(median([4, 1, 2, 30])).to.equal(3)
    expect(median([])).to.deep.equal(Number.NaN)
  })
})
