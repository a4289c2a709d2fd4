import { expect } from 'chai'
import { backlogFor } from '../support/paying.ts'

describe('backlogFor', () => {
  it('returns the events of the given time, in steps of 500', () => {
    expect(backlogFor(4_100, 1.5)).to.equal(6_000)
    expect(backlogFor(960, 1.5)).to.equal(1_500)
  })

  it('returns at least 500 and at most 30,000 events', () => {
    expect(backlogFor(0, 1.5)).to.equal(500)
    expect(backlogFor(1_000_000, 1.5)).to.equal(30_000)
  })
})
