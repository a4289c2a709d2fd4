import { dayMs } from '@orderflow/stack/operate'
import { expect } from 'chai'
import type { Given } from '../../src/command-line.ts'
import { command } from '../../src/commands/operate/region.ts'
import { retentionOf } from '../../src/commands/operate/retention.ts'

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
  afterEach(() => {
    delete process.env.Stream__Brokers
  })
  for (const [role, minutes] of [[undefined], ['standby'], ['active', '1.5'], ['active', '-1'], ['active', 'ten']]) {
    it(`refuses ${role} with ${minutes} minutes before any change`, async () => {
      process.env.Stream__Brokers = 'unused:9092'
      const given = { args: role ? [role] : [], text: () => minutes } as unknown as Given
      const refusal = await Promise.resolve(command.run(given)).catch((error: Error & { code?: string }) => error)
      expect(refusal).to.have.property('code', 'usage')
    })
  }
})
