import { expect } from 'chai'
import { isScope } from '../../src/auth/caller.ts'

describe('a scope', () => {
  it('consists of the name of the data and the action, such as `orders:read`', () => {
    const scopes = ['orders:read', 'orders:write', 'events:operate', 'events:reveal', 'shipping-orders:read']
    expect(scopes.filter((scope) => !isScope(scope))).to.deep.equal([])
    const wrong = ['orders', 'orders:all', ':read', 'Orders:read', 'orders:read:write', 'orders:read ', '-:read']
    expect(wrong.filter(isScope)).to.deep.equal([])
  })
})
