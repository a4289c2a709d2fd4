import { expect } from 'chai'
import { createRate } from '../../src/web/rate-limits.ts'

describe('createRate', () => {
  let time: number
  const rateOf = (perMinute: number, memory?: number) => createRate(perMinute, () => time, memory)
  /** Sends `count` requests at once, and returns the number of accepted requests. */
  const taken = (rate: ReturnType<typeof rateOf>, count: number, key = 'a') =>
    Array.from({ length: count }, () => rate(key).waitMs).filter((waitMs) => waitMs === 0).length

  beforeEach(() => {
    time = 1_000_000
  })

  for (const perMinute of [1, 7, 60, 6_000, 99_999]) {
    it(`allows ${perMinute} requests at once, and refuses the next request`, () => {
      expect(taken(rateOf(perMinute), perMinute + 5)).to.equal(perMinute)
    })
  }

  it('returns the number of remaining requests, and the times until the next request and until the full quota', () => {
    const rate = rateOf(3)
    expect(rate('a')).to.deep.equal({ left: 2, wholeInMs: 20_000, waitMs: 0 })
    time += 5_000
    expect(rate('a')).to.deep.equal({ left: 1, wholeInMs: 35_000, waitMs: 0 })
    expect(rate('a')).to.deep.equal({ left: 0, wholeInMs: 55_000, waitMs: 0 })
    expect(rate('a')).to.deep.equal({ left: 0, wholeInMs: 55_000, waitMs: 15_000 })
  })

  it('allows the next request at the announced time, even if requests were refused meanwhile', () => {
    const rate = rateOf(7)
    taken(rate, 7)
    const { waitMs } = rate('a')
    time += waitMs - 1
    expect(taken(rate, 100)).to.equal(0)
    time += 1
    expect(taken(rate, 100)).to.equal(1)
  })

  it('allows only one quota of requests around the start of a minute', () => {
    const rate = rateOf(60)
    time = 59_990
    expect(taken(rate, 60)).to.equal(60)
    time = 60_010
    expect(taken(rate, 60)).to.equal(0)
    time = 61_000
    expect(taken(rate, 60)).to.equal(1)
  })

  it('allows at most one quota of requests after a long silence', () => {
    const rate = rateOf(10)
    taken(rate, 10)
    time += 24 * 60 * 60 * 1_000
    expect(taken(rate, 100)).to.equal(10)
  })

  it('keeps a separate quota for each key, whatever its name is', () => {
    const rate = rateOf(2)
    for (const key of ['a', 'b', '__proto__', 'constructor', '']) expect(taken(rate, 5, key), key).to.equal(2)
  })

  describe('with a memory of ten keys', () => {
    it('forgets a silent key after many other keys came, and gives this key a full quota', () => {
      const rate = rateOf(1, 10)
      taken(rate, 1)
      for (let other = 0; other < 20; other += 1) rate(`other ${other}`)
      expect(taken(rate, 1)).to.equal(1)
    })

    it('remembers an active key, however many other keys come', () => {
      const rate = rateOf(1, 10)
      taken(rate, 1)
      for (let other = 0; other < 1_000; other += 1) {
        rate(`other ${other}`)
        expect(taken(rate, 1)).to.equal(0)
      }
    })

    it('remembers every key until more than five other keys have come', () => {
      const rate = rateOf(1, 10)
      for (const key of ['b', 'c', 'a']) rate(key)
      for (let other = 0; other < 5; other += 1) rate(`other ${other}`)
      expect(taken(rate, 1)).to.equal(0)
    })
  })
})
