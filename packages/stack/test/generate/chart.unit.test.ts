import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'chai'
import { parse, parseAllDocuments } from 'yaml'
import { images } from '../../src/application/images.ts'
import { repository } from '../../src/application/paths.ts'
import { partitions, services, storedServices } from '../../src/application/services.ts'

const read = (path: string) => readFileSync(join(repository, 'chart', path), 'utf8')
const values = () => parse(read('values.yaml'))
const application = JSON.parse(read('files/application.json'))
const isValid = new Ajv2020({ strict: false }).compile(JSON.parse(read('values.schema.json')))

describe('chart/values.yaml', () => {
  it('sets replicas and resources of each service', () => {
    expect(Object.keys(values().services)).to.deep.equal(services.map(({ name }) => name))
    for (const service of Object.values<{ resources: object }>(values().services)) {
      expect(service.resources).to.have.nested.property('requests.cpu')
      expect(service.resources).to.have.nested.property('limits.memory')
    }
  })

  it('closes the services, and allows at most one replica for each partition', () => {
    expect(values().settings.Auth__Mode).to.equal('closed')
    expect(values().scaling.maxReplicas).to.equal(partitions.containers)
  })

  it('obeys its schema', () => {
    expect(isValid(values()), JSON.stringify(isValid.errors)).to.equal(true)
  })

  const mistakes: [what: string, change: (values: Record<string, unknown>) => void][] = [
    ['a misspelt name', (all) => Object.assign(all, { sidecars: 'native' })],
    ['an unknown kind of sidecar', (all) => Object.assign(all, { sidecar: 'none' })],
    ['an unknown service', (all) => Object.assign(all.services as object, { 'order-servise': { replicas: 2 } })],
    [
      'a misspelt value of a service',
      (all) => Object.assign(all.services as object, { 'order-service': { replica: 2 } }),
    ],
    ['a number as a setting', (all) => Object.assign(all, { settings: { Web__Proxies: 1 } })],
    ['brokers without ports', (all) => Object.assign(all, { kafka: { brokers: 'kafka' } })],
    ['a rebuild of a service without a store', (all) => Object.assign(all, { rebuild: ['event-gateway'] })],
    ['a tag in place of a digest', (all) => Object.assign(all, { images: { digests: { setup: 'latest' } } })],
  ]
  it('allows the rebuild of each service with a store', () => {
    const rebuild = storedServices.map(({ name }) => name)
    expect(isValid({ ...values(), rebuild }), JSON.stringify(isValid.errors)).to.equal(true)
  })

  for (const [what, change] of mistakes) {
    it(`becomes invalid with ${what}`, () => {
      const changed = values()
      change(changed)
      expect(isValid(changed)).to.equal(false)
    })
  }
})

describe('the chart’s application.json', () => {
  it('names the tested version of Dapr', () => {
    expect(application.sidecar.image).to.equal(images.daprd)
  })

  it('gives each sidecar the name, the channel and the resources of its service', () => {
    for (const { name, channel } of services) {
      expect(application.services[name].sidecar, name).to.include.members([
        `--app-id=${name}`,
        `--app-port=${channel}`,
        '--dapr-listen-addresses=127.0.0.1',
        '--resources-path=/components',
        '--config=/components/configuration.yaml',
      ])
    }
  })

  it('names the token of each service for dry runs, but contains no token', () => {
    const watcher = services.find(({ watches }) => watches)
    const { dryRuns, environment } = application.services[watcher?.name ?? '']
    expect(dryRuns.map(({ name }: { name: string }) => name)).to.deep.equal(storedServices.map(({ name }) => name))
    for (const { name, variable } of dryRuns) {
      expect(environment.Monitor__DryRuns).to.match(
        new RegExp(`${name}=http://${name}-metrics:\\d+ \\$\\(${variable}\\)`),
      )
    }
  })

  it('limits each user of Kafka to the topics and the group that it needs', () => {
    for (const { name, hasStore } of services) {
      const groups =
        application.rights[name]?.filter(({ resource }: { resource: string }) => resource === 'group') ?? []
      if (hasStore) expect(groups).to.deep.equal([{ resource: 'group', name, operations: ['Read'] }])
    }
    expect(application.rights).not.to.have.property('operator')
  })
})

describe('resources of the chart', () => {
  // A configuration has no scopes. The annotations of a pod name it.
  const paths = ['components', 'mongodb', 'postgresql']
    .flatMap((folder) => readdirSync(join(repository, 'chart/files', folder)).map((name) => `${folder}/${name}`))
    .filter((path) => path !== 'components/configuration.yaml')
  for (const path of paths) {
    it(`names the services that load ${path}`, () => {
      const documents = parseAllDocuments(read(`files/${path}`)).map((document) => document.toJS())
      const names = services.map(({ name }) => name)
      for (const { scopes } of documents) expect(names).to.include.members(scopes)
      for (const { scopes } of documents) expect(scopes).to.have.lengthOf.at.least(1)
    })
  }

  it('include the field that Kubernetes requires of a configuration', () => {
    expect(parse(read('files/components/configuration.yaml')).spec.metrics.enabled).to.equal(true)
  })
})
