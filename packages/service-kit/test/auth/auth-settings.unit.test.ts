import { expect } from 'chai'
import { type AuthSettings, authProblems } from '../../src/auth/auth-settings.ts'

const usual: AuthSettings['Auth'] = {
  Mode: 'loopback',
  Issuer: '',
  Audience: '',
  TenantClaim: 'tenant_id',
  ClientId: '',
  ApiKeys: '',
}
const tokens = { Mode: 'closed', Issuer: 'https://login.example.com', Audience: 'orderflow' } as const
const problems = (auth: Partial<AuthSettings['Auth']>, Host = '127.0.0.1') =>
  authProblems({ Auth: { ...usual, ...auth }, Web: { Host } })
const named = (...args: Parameters<typeof problems>) => problems(...args).map((problem) => problem.split(':')[0])

describe('authProblems', () => {
  it('accepts the mode `loopback` only for a listener on a loopback address', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1'])
      expect(problems({}, host), host).to.deep.equal([])
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'shop.example.com', '127.evil.example']) {
      expect(named({}, host), host).to.deep.equal(['Auth__Mode'])
    }
    expect(problems({}, '0.0.0.0')[0]).to.match(/closed.*Auth__Issuer.*Auth__ApiKeys.*or set open, if all/)
  })

  it('accepts a listener on any address in the modes `open` and `closed`', () => {
    expect(problems({ Mode: 'open' }, '0.0.0.0')).to.deep.equal([])
    expect(problems(tokens, '0.0.0.0')).to.deep.equal([])
    expect(problems({ Mode: 'closed', ApiKeys: '[]' }, '0.0.0.0')).to.deep.equal([])
  })

  it('refuses the mode `closed` if neither tokens nor API keys are set up', () => {
    expect(named({ Mode: 'closed' })).to.deep.equal(['Auth__Issuer', 'Auth__ApiKeys'])
  })

  it('requires an audience for tokens, and an issuer that uses https or is on this machine', () => {
    expect(named({ ...tokens, Audience: '' })).to.deep.equal(['Auth__Audience'])
    for (const Issuer of ['http://login.example.com', 'login.example.com', 'ftp://localhost']) {
      expect(named({ ...tokens, Issuer }), Issuer).to.deep.equal(['Auth__Issuer'])
    }
    for (const Issuer of ['http://127.0.0.1:9000', 'http://localhost:9000/', 'http://[::1]:9000']) {
      expect(problems({ ...tokens, Issuer }), Issuer).to.deep.equal([])
    }
  })

  it('refuses settings of authentication that have no effect in the chosen mode', () => {
    expect(named({ Issuer: tokens.Issuer, ApiKeys: '[]' })).to.deep.equal(['Auth__Issuer', 'Auth__ApiKeys'])
    expect(named({ Mode: 'open', ApiKeys: '[]' })).to.deep.equal(['Auth__ApiKeys'])
  })
})
