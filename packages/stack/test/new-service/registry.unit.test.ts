import { expect } from 'chai'
import { services } from '../../src/application/services.ts'
import { nextPorts } from '../../src/new-service/new-service.ts'

describe('nextPorts', () => {
  it('returns the first unused pair of ports', () => {
    const taken = services.flatMap(({ http, https }) => [http, https])
    const { http, https, channel } = nextPorts()
    expect([https, channel]).to.deep.equal([http + 1, http + 100])
    const isFree = (port: number) => !taken.includes(port) && !taken.includes(port + 1)
    const pairs = Array.from({ length: (http - 5000) / 2 }, (_, index) => 5000 + 2 * index)
    expect([isFree(http), pairs.some(isFree)]).to.deep.equal([true, false])
  })
})
