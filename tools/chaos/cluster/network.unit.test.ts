import { expect } from 'chai'
import { createNetwork } from './network.ts'

const replicas = ['order-service', 'order-service-2', 'payment-service']
const brokers = { kafka: { broker: 1, controller: 2 }, 'kafka-2': { broker: 3, controller: 4 } }
const byName = (setting = '') =>
  new Map(setting.split(',').map((listener) => listener.split('://') as [name: string, at: string]))

describe('createNetwork', () => {
  it('makes the Kafka clients of each replica reconnect through the link of this replica', async () => {
    const { kafkaOf, links, brokerSettings } = await createNetwork(replicas, brokers, undefined)
    for (const [order, broker] of Object.keys(brokers).entries()) {
      const settings = brokerSettings(broker)
      const at = byName(settings.listeners)
      const advertised = byName(settings['advertised.listeners'])
      const ways = replicas.map((replica) => {
        const [, upstream] = links(replica, 'kafka')[order]?.spec.args ?? []
        const listener = [...at].find(([, address]) => address === upstream)?.[0] ?? ''
        return [listener, advertised.get(listener)]
      })
      const wanted = replicas.map((replica, index) => [`LINK${index}`, kafkaOf(replica).split(',')[order]])
      expect(ways).to.deep.equal(wanted)
    }
    const addresses = replicas.flatMap((replica) => kafkaOf(replica).split(','))
    expect(new Set(addresses).size).to.equal(replicas.length * 2)
  })

  it('keeps the broker’s own listener for other clients, and sets a protocol for each listener', async () => {
    const settings = (await createNetwork(replicas, brokers, undefined)).brokerSettings('kafka-2')
    expect(byName(settings['advertised.listeners']).get('PLAINTEXT')).to.equal('127.0.0.1:3')
    expect(byName(settings.listeners).get('CONTROLLER')).to.equal('127.0.0.1:4')
    const protocols = settings['listener.security.protocol.map']?.split(',').map((entry) => entry.split(':')[0])
    expect(protocols).to.have.members([...byName(settings.listeners).keys()])
  })

  it('creates a link from each replica to a store on a server, and no link to a store in a file', async () => {
    const { storeOf, links } = await createNetwork(replicas, brokers, '127.0.0.1:3')
    expect(new Set(replicas.map(storeOf)).size).to.equal(replicas.length)
    for (const replica of replicas) expect(links(replica, 'store')[0]?.spec.args[1]).to.equal('127.0.0.1:3')
    const files = await createNetwork(replicas, brokers, undefined)
    expect(files.storeOf('order-service')).to.equal(undefined)
    expect(() => files.links('order-service', 'store')).to.throw('order-service has no network to store')
  })
})
