import { expect } from 'chai'
import { createNetwork } from './network.ts'

const replicas = ['order-service', 'order-service-2', 'payment-service']
const ports = { kafka: 1, kafkaController: 2 }
const byName = (setting = '') =>
  new Map(setting.split(',').map((listener) => listener.split('://') as [name: string, at: string]))

describe('createNetwork', () => {
  it('makes the Kafka clients of each replica reconnect through the link of this replica', async () => {
    const { kafkaOf, link, brokerSettings } = await createNetwork(replicas, ports, undefined)
    const at = byName(brokerSettings.listeners)
    const advertised = byName(brokerSettings['advertised.listeners'])
    const ways = replicas.map((replica) => {
      const [, upstream] = link(replica, 'kafka').spec.args
      const listener = [...at].find(([, address]) => address === upstream)?.[0] ?? ''
      return [listener, advertised.get(listener)]
    })
    expect(ways).to.deep.equal(replicas.map((replica, index) => [`LINK${index}`, kafkaOf(replica)]))
    expect(new Set(replicas.map(kafkaOf)).size).to.equal(replicas.length)
  })

  it('keeps the broker’s own listener for other clients, and sets a protocol for each listener', async () => {
    const { brokerSettings } = await createNetwork(replicas, ports, undefined)
    expect(byName(brokerSettings['advertised.listeners']).get('PLAINTEXT')).to.equal('127.0.0.1:1')
    expect(byName(brokerSettings.listeners).get('CONTROLLER')).to.equal('127.0.0.1:2')
    const protocols = brokerSettings['listener.security.protocol.map']?.split(',').map((entry) => entry.split(':')[0])
    expect(protocols).to.have.members([...byName(brokerSettings.listeners).keys()])
  })

  it('creates a link from each replica to a store on a server, and no link to a store in a file', async () => {
    const { storeOf, link } = await createNetwork(replicas, ports, '127.0.0.1:3')
    expect(new Set(replicas.map(storeOf)).size).to.equal(replicas.length)
    for (const replica of replicas) expect(link(replica, 'store').spec.args[1]).to.equal('127.0.0.1:3')
    const files = await createNetwork(replicas, ports, undefined)
    expect(files.storeOf('order-service')).to.equal(undefined)
    expect(() => files.link('order-service', 'store')).to.throw('order-service has no network to store')
  })
})
