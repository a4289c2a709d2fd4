import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { StreamSettings } from '@orderflow/kafka-log'
import { expect } from 'chai'
import { createEarlierDeadLetters } from '../../../src/stream/dead-letters/earlier-dead-letters.ts'

describe('createEarlierDeadLetters', () => {
  let broker: Server
  let connected: number
  beforeEach(async () => {
    connected = 0
    broker = createServer((socket) => {
      connected += 1
      socket.destroy()
    })
    await once(broker.listen(0, '127.0.0.1'), 'listening')
  })
  afterEach(() => broker.close())

  /** Reads the dead letters of one topic for several partitions at the same time, and returns the number of connections. */
  async function connectionsOf(partitions: number): Promise<number> {
    const before = connected
    const { port } = broker.address() as AddressInfo
    const settings = { Brokers: `127.0.0.1:${port}`, AuthType: 'none' } as StreamSettings
    const read = createEarlierDeadLetters(settings, 'a-service')
    const results = await Promise.allSettled(Array.from({ length: partitions }, () => read('orderevents', 0)))
    expect(results.map(({ status }) => status)).to.deep.equal(results.map(() => 'rejected'))
    return connected - before
  }

  it('shares a read among the partitions of a topic that wait for it, so that a broker without answers delays them only once', async () => {
    const once = await connectionsOf(1)
    expect(once).to.be.above(0)
    expect(await connectionsOf(12)).to.be.at.most(2 * once)
  })
})
