import { expect } from 'chai'
import { noTenant, tenantOf } from '../src/index.ts'

describe('tenantOf', () => {
  it('returns the tenant that an envelope names', () => {
    const named = tenantOf({ TenantID: 'acme', TenantUserID: 'ada' })
    expect(named).to.deep.equal({ id: 'acme', userId: 'ada' })
  })

  it('returns empty ids for an envelope without a tenant', () => {
    expect(tenantOf({})).to.deep.equal({ id: '', userId: '' })
    expect(noTenant).to.deep.equal({ id: '', userId: '' })
  })
})
