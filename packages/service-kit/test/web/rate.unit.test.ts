import { expect } from 'chai'
import { createRate } from '../../src/web/rate-limits.ts'

describe('a rate', () => {
  let time: number
  const rateOf = (perMinute: number, memory?: number) => createRate(perMinute, () => time, memory)
  /** How many of so many requests are taken at this moment. */
  const taken = (rate: ReturnType<typeof rateOf>, count: number, key = 'a') =>
    Array.from({ length: count }, () => rate(key).waitMs).filter((waitMs) => waitMs === 0).length

  beforeEach(() => {
    time = 1_000_000
  })

  for (const perMinute of [1, 7, 60, 6_000, 99_999]) {
    it(`of ${perMinute} takes as many at once, and no more`, () => {
      expect(taken(rateOf(perMinute), perMinute + 5)).to.equal(perMinute)
    })
  }

  it('counts down, and says when the next is due and when all are', () => {
    const rate = rateOf(3)
    expect(rate('a')).to.deep.equal({ left: 2, wholeInMs: 20_000, waitMs: 0 })
    time += 5_000
    expect(rate('a')).to.deep.equal({ left: 1, wholeInMs: 35_000, waitMs: 0 })
    expect(rate('a')).to.deep.equal({ left: 0, wholeInMs: 55_000, waitMs: 0 })
    expect(rate('a')).to.deep.equal({ left: 0, wholeInMs: 55_000, waitMs: 15_000 })
  })

  it('takes the next one exactly when it said, and does not count what it refused', () => {
    const rate = rateOf(7)
    taken(rate, 7)
    const { waitMs } = rate('a')
    time += waitMs - 1
    expect(taken(rate, 100)).to.equal(0)
    time += 1
    expect(taken(rate, 100)).to.equal(1)
  })

  it('takes no more than a quota around a full minute', () => {
    const rate = rateOf(60)
    time = 59_990
    expect(taken(rate, 60)).to.equal(60)
    time = 60_010
    expect(taken(rate, 60)).to.equal(0)
    time = 61_000
    expect(taken(rate, 60)).to.equal(1)
  })

  it('saves up no more than a quota, however long nobody comes', () => {
    const rate = rateOf(10)
    taken(rate, 10)
    time += 24 * 60 * 60 * 1_000
    expect(taken(rate, 100)).to.equal(10)
  })

  it('counts each by itself, whatever he is called', () => {
    const rate = rateOf(2)
    for (const key of ['a', 'b', '__proto__', 'constructor', '']) expect(taken(rate, 5, key), key).to.equal(2)
  })

  describe('that remembers ten', () => {
    it('forgets those who were silent while many others came, who have a whole quota then', () => {
      const rate = rateOf(1, 10)
      taken(rate, 1)
      for (let other = 0; other < 20; other += 1) rate(`other ${other}`)
      expect(taken(rate, 1)).to.equal(1)
    })

    it('does not forget who goes on sending, however many others come', () => {
      const rate = rateOf(1, 10)
      taken(rate, 1)
      for (let other = 0; other < 1_000; other += 1) {
        rate(`other ${other}`)
        expect(taken(rate, 1)).to.equal(0)
      }
    })

    it('does not forget anybody before five others came', () => {
      const rate = rateOf(1, 10)
      for (const key of ['b', 'c', 'a']) rate(key)
      for (let other = 0; other < 5; other += 1) rate(`other ${other}`)
      expect(taken(rate, 1)).to.equal(0)
    })
  })
})
