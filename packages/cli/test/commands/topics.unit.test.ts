import { expect } from 'chai'
import { retentionOf } from '../../src/commands/topics.ts'
import { dayMs } from '../../src/kafka/retention.ts'

describe('the retention of events', () => {
  it('accepts a number of days, or forever', () => {
    expect(['1', '30', '36500', 'forever'].map(retentionOf)).to.deep.equal([dayMs, 30 * dayMs, 36_500 * dayMs, -1])
  })

  for (const days of ['0', '-1', '1.5', '030', 'ever', '36501', '1e3', ' 1']) {
    it(`refuses "${days}" before any change`, () => {
      expect(() => retentionOf(days)).to.throw(`${days} is not a number of days`)
    })
  }
})
