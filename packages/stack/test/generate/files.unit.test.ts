import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { eventTypes } from '@orderflow/envelope'
import { clockTopic } from '@orderflow/service-kit/log'
import { expect } from 'chai'
import { parse, parseAllDocuments } from 'yaml'
import { repository } from '../../src/application/paths.ts'
import { consumerComponents, defaultPorts, partitions, services } from '../../src/application/services.ts'
import { publishersFile } from '../../src/generate/components.ts'
import { generatedFiles, outdatedFiles } from '../../src/generate/files.ts'
import { topics } from '../../src/kafka/topics.ts'

const read = (...path: string[]) => readFileSync(join(repository, ...path), 'utf8')
const documentsOf = (...path: string[]) => parseAllDocuments(read(...path)).map((document) => document.toJS())

describe('make generate', () => {
  for (const [path, text] of generatedFiles()) {
    it(`keeps ${path} unchanged, because it is up to date`, () => {
      expect(existsSync(join(repository, path)) ? read(path) : undefined).to.equal(text)
    })
  }

  it('finds no outdated files', async () => {
    expect(await outdatedFiles()).to.deep.equal([])
  })

  it('finds a folder with settings for each service of services.json, and no other folders of services', () => {
    const own = services.map(({ folder }) => folder).filter((folder) => !folder.startsWith('packages/'))
    expect(readdirSync(repository).filter((name) => name.endsWith('-service'))).to.have.members(own)
    for (const { name, folder, http, https, channel, hasStore } of services) {
      const { metrics, daprHttp, daprGrpc } = defaultPorts.services[name] ?? {}
      const settings = JSON.parse(read(folder, 'appsettings.json'))
      expect(settings.App.Name).to.equal(name)
      expect(settings.Web, name).to.include({ HttpPort: http, HttpsPort: https })
      expect(settings.AppChannel.Port, name).to.equal(channel)
      expect(settings.Metrics, name).to.deep.equal({ Host: 'localhost', Port: metrics })
      expect(settings.Sidecar, name).to.include({ HttpPort: daprHttp, GrpcPort: daprGrpc })
      expect(settings.State.Store, name).to.equal(hasStore ? 'statestore' : '')
      expect(settings.Stream.PubSub, name).to.equal(['pubsub', ...consumerComponents].join())
    }
  })
})

describe('components/trust/publishers.json', () => {
  it('lists the AppId of each service and the names of its events', () => {
    const { outside, services: published } = JSON.parse(read('components/trust/publishers.json'))
    const named = services.map(({ name, folder, publishes }) => [
      JSON.parse(read(folder, 'appsettings.json')).App.Id,
      { name, publishes },
    ])
    expect(published).to.deep.equal(Object.fromEntries(named))
    expect(outside).to.deep.equal({ orderevents: ['OrderCreated', 'OrderCancelled'] })
    for (const topic of Object.keys(outside)) expect(topics.containers.map(({ name }) => name)).to.include(topic)
  })

  it('refuses two services with one AppId, and names the file to change', () => {
    const copied = services.flatMap((service) => [service, { ...service, name: `${service.name}-copy` }])
    expect(() => publishersFile(copied))
      .to.throw('order-service-copy has the AppId of order-service')
      .with.property('nextStep', 'write a new GUID into App.Id of order-service/appsettings.json')
  })

  it('lists only events with a schema', () => {
    const known = eventTypes.map((type) => type.split('@')[0])
    for (const { publishes } of services) expect(known).to.include.members(Object.values(publishes).flat())
  })
})

describe('topics of services.json', () => {
  it('include all consumed and produced topics, with their consumers and dead-letter topics', () => {
    const events = topics.containers.filter(({ name }) => !name.endsWith('.dead') && name !== clockTopic)
    const dead = topics.containers.filter(({ name }) => name.endsWith('.dead'))
    expect(dead.map(({ name }) => name)).to.deep.equal(events.map(({ name }) => `${name}.dead`))
    for (const { consumerGroups, partitions } of dead) expect([consumerGroups, partitions]).to.deep.equal([[], 1])
    const consumed = services.flatMap(({ name, consumes }) =>
      Object.keys(consumes).map((topic) => `${topic} to ${name}`),
    )
    const waitedFor = events.flatMap(({ name, consumerGroups }) => consumerGroups.map((group) => `${name} to ${group}`))
    expect(waitedFor.sort()).to.deep.equal(consumed.sort())
    for (const { produces } of services) expect(events.map(({ name }) => name)).to.include.members(produces)
  })

  it('include the clock of deadlines, which Kafka keeps for an hour', () => {
    const [clock] = topics.processes.filter(({ name }) => name === clockTopic)
    expect(clock).to.deep.include({ partitions: 1, consumerGroups: [] })
    expect(clock?.configs).to.include({ 'retention.ms': '3600000', 'message.timestamp.type': 'LogAppendTime' })
  })

  it('differ between processes and containers only in the number of partitions', () => {
    const withOther = topics.processes.map(({ name, ...spec }) => ({
      ...spec,
      name,
      partitions: name.endsWith('.dead') || name === clockTopic ? 1 : partitions.containers,
    }))
    expect(withOther).to.deep.equal(topics.containers)
  })
})

describe('components/', () => {
  it('subscribes each service to its topics, and to prompt topics through every consumer component', () => {
    for (const { name, consumes } of services) {
      const file = `subscriptions.${name}.yaml`
      const documents = existsSync(join(repository, 'components', file)) ? documentsOf('components', file) : []
      const found = documents.map(({ scopes, spec }) => {
        expect(scopes).to.deep.equal([name])
        return `${spec.topic} through ${spec.pubsubname}`
      })
      const wanted = Object.entries(consumes).flatMap(([topic, urgency]) =>
        (urgency === 'prompt' ? consumerComponents : ['pubsub']).map((component) => `${topic} through ${component}`),
      )
      expect(found).to.deep.equal(wanted)
    }
  })

  it('contains Kafka components that have retries and differ only in name and client id', () => {
    const components = documentsOf('components/kafka.yaml')
    const names = components.map(({ metadata }) => metadata.name)
    expect(names).to.deep.equal(['pubsub', ...consumerComponents])
    const alike = components.map(({ metadata, ...other }) =>
      JSON.stringify(other).replace(`{appID}${metadata.name.slice('pubsub'.length)}"}`, '{appID}"}'),
    )
    expect(new Set(alike).size).to.equal(1)
    expect(Object.keys(parse(read('components/resiliency.yaml')).spec.targets.components)).to.deep.equal(names)
  })

  it('uses each subscription name once, because a sidecar reads the subscriptions of all services', () => {
    const files = readdirSync(join(repository, 'components')).filter((file) => file.startsWith('subscriptions.'))
    const names = files.flatMap((file) => documentsOf('components', file).map(({ metadata }) => metadata.name))
    expect(new Set(names).size).to.equal(names.length)
  })

  it('lets the broker refuse a large message before the sidecar does', () => {
    const sidecarLimit = Number(/name: maxMessageBytes\s+value: "(\d+)"/.exec(read('components/kafka.yaml'))?.[1])
    const limits = topics.containers.map((topic) => Number(topic.configs['max.message.bytes']))
    expect(sidecarLimit).to.be.greaterThan(Math.max(...limits))
  })

  it('contains only one document in the resiliency file, because daprd reads only the first document', () => {
    expect(read('components/resiliency.yaml')).to.not.match(/^---$/m)
  })

  it('contains no connection strings or credentials', () => {
    const files = readdirSync(join(repository, 'components'), { recursive: true, encoding: 'utf8' })
    for (const name of files.filter((file) => file.endsWith('.yaml'))) {
      expect(read('components', name)).to.not.match(/name: (brokers|connectionString|sasl\w*)\s+value:/)
    }
  })

  it('contains a folder for each state store', () => {
    for (const store of ['sqlite', 'mongodb', 'postgresql']) {
      expect(readdirSync(join(repository, 'components', store))).to.include('statestore.yaml')
      const { metadata, spec } = parse(read('components', store, 'statestore.yaml'))
      expect([metadata.name, spec.type]).to.deep.equal(['statestore', `state.${store}`])
    }
  })
})
