import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { repository } from '../../src/application/paths.ts'
import { brokerPorts, defaultPorts, services as registered, sidecarOf } from '../../src/application/services.ts'
import { brokersFile } from '../../src/containers/project.ts'
import { brokerNames, brokerVariable, controllerSecurity, replicationSettings } from '../../src/kafka/broker.ts'

interface Service {
  image?: string
  ports?: string[]
  volumes?: string[]
  entrypoint?: string[]
  environment: Record<string, unknown>
}

const customTags = [{ tag: '!reset', resolve: () => null }]
const read = (name: string) => readFileSync(join(repository, name), 'utf8')
const servicesOf = (text: string) =>
  (parse(text, { merge: true, customTags }) as { services: Record<string, Service> }).services

const text = read(brokersFile)
const { kafka: single, ...others } = servicesOf(read('docker-compose.yml'))
const added = servicesOf(text)
const names = brokerNames({ brokers: 3 })
const brokers = names.map((name) => added[name] as Service)

describe('docker-compose.brokers.yml', () => {
  it('gives each broker the replication settings and the settings of controllers that processes have', () => {
    const { 'super.users': superUsers = '', ...login } = controllerSecurity(`\${KAFKA_BROKER_PASSWORD}`)
    const wanted = Object.entries({ ...replicationSettings, ...login })
    for (const { environment } of brokers) {
      for (const [name, value] of wanted)
        expect(String(environment[brokerVariable(name)]), name).to.equal(String(value))
      expect(String(environment.KAFKA_SUPER_USERS).split(';')).to.include(superUsers)
    }
  })

  it('keeps all other settings of the single broker', () => {
    const replicated = Object.keys(replicationSettings).map(brokerVariable)
    const isOther = (name: string) =>
      !replicated.includes(name) && !/QUORUM|LISTENERS$|LOG_DIRS|SECURITY_PROTOCOL_MAP|NODE_ID/.test(name)
    const kept = Object.entries(single?.environment ?? {}).filter(([name]) => isOther(name))
    expect(kept).to.have.length.above(20)
    for (const { image, environment } of brokers) {
      expect(environment).to.include(Object.fromEntries(kept))
      expect(image).to.equal(single?.image)
    }
  })

  it('gives each broker its own id, rack, volume and published port', () => {
    const own = (one: (broker: Service) => unknown) => new Set(brokers.map(one))
    expect([...own(({ environment }) => environment.KAFKA_NODE_ID)]).to.deep.equal([1, 2, 3])
    expect(own(({ environment }) => environment.KAFKA_BROKER_RACK).size).to.equal(3)
    expect(own(({ volumes }) => volumes?.[0]).size).to.equal(3)
    expect(own(({ volumes }) => volumes?.[1]).size).to.equal(1)
    const published = names.map((name) => (name === 'kafka' ? single : added[name])?.ports)
    const variables = ['KAFKA_PORT', 'KAFKA_2_PORT', 'KAFKA_3_PORT']
    for (const [index, name] of names.entries()) {
      const port = `\${${variables[index]}:-${brokerPorts(defaultPorts, name).broker}}`
      expect(published[index]).to.deep.equal([`127.0.0.1:${port}:9092`])
      expect(brokers[index]?.environment.KAFKA_ADVERTISED_LISTENERS).to.contain(`HOST://localhost:${port}`)
    }
  })

  it('requires a password and TLS on every listener, because other containers can reach it', () => {
    for (const { environment } of brokers) {
      const listeners = String(environment.KAFKA_LISTENERS).split(',')
      const protocols = listeners.map((listener) => `${listener.split('://')[0]}:SASL_SSL`)
      expect(String(environment.KAFKA_LISTENER_SECURITY_PROTOCOL_MAP).split(',')).to.have.members(protocols)
      expect(environment.KAFKA_SSL_TRUSTSTORE_CERTIFICATES).to.equal(environment.KAFKA_SSL_KEYSTORE_CERTIFICATE_CHAIN)
    }
  })

  it('formats a log with the ids of all controllers, or without controllers if the broker has had a log', () => {
    const script = brokers[0]?.entrypoint?.at(-1) ?? ''
    const [, controllers = ''] = /--initial-controllers=(\S+)/.exec(script) ?? []
    const parts = controllers.split(',').map((controller) => controller.split(':'))
    expect(parts.map(([address]) => address)).to.deep.equal(['1@kafka', '2@kafka-2', '3@kafka-3'])
    for (const [, , id = ''] of parts) expect(Buffer.from(id, 'base64url')).to.have.length(16)
    expect(new Set(parts.map(([, , id]) => id)).size).to.equal(3)
    expect(script).to.contain('--no-initial-controllers')
  })

  it('gives the addresses of all brokers to all clients, and lets setup connect over TLS', () => {
    const clients = Object.entries(others).filter(([, { environment }]) => environment?.Stream__Brokers)
    expect(clients.map(([name]) => name)).to.have.members([
      ...registered.flatMap((service) => [service.name, sidecarOf(service)]),
      'exporter',
      'setup',
    ])
    for (const [name] of clients) {
      const port = name === 'setup' ? 9094 : 19092
      const addresses = names.map((broker) => `${broker}:${port}`).join()
      expect(added[name]?.environment.Stream__Brokers, name).to.equal(addresses)
    }
    expect(added.setup?.environment.Stream__DisableTls).to.equal('false')
  })

  it('contains default values for ports, but not for secrets', () => {
    const withDefault = [...text.matchAll(/\$\{(\w+):-/g)].map(([, name]) => name ?? '')
    expect(withDefault.filter((name) => !/_PORT$/.test(name))).to.deep.equal([])
  })
})
