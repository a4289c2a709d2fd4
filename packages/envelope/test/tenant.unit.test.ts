import { expect } from 'chai'
import { noTenant, tenantOf } from '../src/index.ts'

describe('the tenant of an envelope', () => {
  it('is what it names', () => {
    const named = tenantOf({ TenantID: 'acme', TenantUserID: 'ada' })
    expect(named).to.deep.equal({ id: 'acme', userId: 'ada' })
  })

  it('is nobody in particular where it names none', () => {
    expect(tenantOf({})).to.deep.equal({ id: '', userId: '' })
    expect(noTenant).to.deep.equal({ id: '', userId: '' })
  })
})
