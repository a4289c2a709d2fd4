import { expect } from 'chai'
import { approveUpTo, httpOrder, outsideOrder } from './orders.ts'

const many = Array.from({ length: 5_000 }, (_, index) => index)

describe('the plan of orders', () => {
  it('stays the same for the same seed, even if orders are requested in another sequence', () => {
    const later = many.toReversed().map((index) => outsideOrder('a', index))
    expect(later.toReversed()).to.deep.equal(many.map((index) => outsideOrder('a', index)))
    expect(httpOrder('a', 7)).to.deep.equal(httpOrder('a', 7))
    expect(httpOrder('a', 7)).not.to.deep.equal(httpOrder('b', 7))
  })

  it('uses unique names and ids', () => {
    const [http, outside] = [many.map((index) => httpOrder('a', index)), many.map((index) => outsideOrder('a', index))]
    expect(new Set([...http, ...outside].map(({ name }) => name)).size).to.equal(10_000)
    expect(new Set(outside.map(({ id }) => id)).size).to.equal(5_000)
  })

  it('includes every kind: paid, rejected, cancelled, cancelled in advance, and repeated under another key', () => {
    const http = many.map((index) => httpOrder('a', index))
    const outside = many.map((index) => outsideOrder('a', index))
    const has = <T>(list: T[], isMeant: (item: T) => unknown) => list.some(isMeant)
    expect(has(http, ({ total }) => total > approveUpTo)).to.equal(true)
    expect(has(http, ({ cancelAfterMs }) => cancelAfterMs !== undefined)).to.equal(true)
    expect(has(http, ({ total, cancelAfterMs }) => total > approveUpTo && cancelAfterMs !== undefined)).to.equal(false)
    expect(has(outside, ({ cancelFirst, cancelAfterMs }) => cancelFirst && cancelAfterMs)).to.equal(true)
    expect(has(outside, ({ key, again: [again] }) => again && again.key !== key && again.afterMs > 0)).to.equal(true)
    expect(has(outside, ({ again: [again] }) => again?.afterMs === 0)).to.equal(true)
  })
})
