import { expect } from 'chai'
import { services } from '../../src/lib/services.ts'
import { nextPorts } from '../../src/new-service/registry.ts'

describe('the ports of a new service', () => {
  it('are the first pair that nobody has', () => {
    const taken = services.flatMap(({ http, https }) => [http, https])
    const { http, https, channel } = nextPorts()
    expect([http, https, channel]).to.deep.equal([5004, 5005, 5104])
    expect(taken).not.to.include.members([http]).and.not.include.members([https])
  })
})
