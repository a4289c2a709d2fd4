import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { createIdleSidecar } from '../../src/sidecar/sidecar.ts'

describe('createIdleSidecar', () => {
  it('sends only health requests to the sidecar', async () => {
    let status = 204
    const asked: (string | undefined)[] = []
    const server = createServer(({ url }, response) => {
      asked.push(url)
      response.writeHead(status).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const sidecar = createIdleSidecar({ Sidecar: { Host: '127.0.0.1', HttpPort: port, GrpcPort: 1, Token: '' } })

    expect(await sidecar.fault()).to.equal(undefined)
    status = 500
    expect(await sidecar.fault()).to.equal('its health answers 500')
    server.close()
    server.closeAllConnections()
    expect(await sidecar.fault()).to.equal('does not answer')

    const calls = [sidecar.publish('t', []), sidecar.read(['a']), sidecar.transact([]), sidecar.store()]
    const answers = await Promise.allSettled(calls)
    expect(answers.map(({ status: how }) => how)).to.deep.equal(calls.map(() => 'rejected'))
    expect(asked).to.deep.equal(['/v1.0/healthz', '/v1.0/healthz'])
  })
})
