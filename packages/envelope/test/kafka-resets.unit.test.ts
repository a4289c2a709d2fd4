import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { Admin } from '@platformatic/kafka'
import { expect } from 'chai'
import '../src/kafka/resets.ts'

describe('Kafka clients at a broker that resets connections during the login', () => {
  it('reports an error for each reset, and keeps the process running', async () => {
    const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy())).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const bootstrapBrokers = [`127.0.0.1:${(server.address() as AddressInfo).port}`]
    const sasl = { mechanism: 'PLAIN', username: 'user', password: 'password' } as const
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      const admin = new Admin({ clientId: 'test', bootstrapBrokers, sasl, retries: 0 })
      expect(admin.listenerCount('error'), 'error listeners of the client itself').to.equal(0)
      const failure = await admin.listTopics().catch((error: unknown) => error)
      await admin.close()
      expect(failure).to.be.instanceOf(Error)
    }
    server.close()
  })
})
