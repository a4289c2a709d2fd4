import { expect } from 'chai'
import { region, retentionOf } from '../../src/commands/topics.ts'
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

describe('./orderflow region', () => {
  for (const [role, minutes] of [[undefined], ['standby'], ['active', '1.5'], ['active', '-1'], ['active', 'ten']]) {
    it(`refuses ${role} with ${minutes} minutes before any change`, async () => {
      const refusal = await region(role, minutes, {}).catch((error: Error & { code?: string }) => error)
      expect(refusal).to.have.property('code', 'usage')
    })
  }
})
