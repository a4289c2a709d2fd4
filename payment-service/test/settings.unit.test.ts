import { readSettings } from '@orderflow/service-kit'
import { expect } from 'chai'
import { service } from '../src/service.ts'

describe('the settings of payment-service', () => {
  it('rejects a limit above the largest amount of an event', () => {
    const read = (limit: string) =>
      readSettings(service, { APP_API_TOKEN: 'a', DAPR_API_TOKEN: 'd', Policy__ApproveUpTo: limit }).Policy.ApproveUpTo
    expect(read('1000000000000')).to.equal(1e12)
    expect(() => read('1000000000001')).to.throw('Policy__ApproveUpTo: must be <= 1000000000000')
  })
})
