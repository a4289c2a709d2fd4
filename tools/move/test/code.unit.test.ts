import { expect } from 'chai'
import { constantsIn, movedManifest, movedReadme, movedServices, movedSettings, movedTrust } from '../code/files.ts'
import { movedSource } from '../code/source.ts'

describe('movedSource', () => {
  const cases: Record<string, [before: string, after: string]> = {
    'imports the contract of the application': [
      "import { orderEvents } from '@orderflow/envelope-schema'\nimport { run } from '@orderflow/service-kit'",
      "import { orderEvents } from '@acme/envelope-schema'\nimport { run } from '@orderflow/service-kit'",
    ],
    'names reactions without a version': [
      "return {\n  [topic]: { 'OrderCreated@1': save, 'OrderCancelled@12': save },\n  [other]: {\n    'PaymentApproved@1': react,\n  },\n}",
      'return {\n  [topic]: { OrderCreated: save, OrderCancelled: save },\n  [other]: {\n    PaymentApproved: react,\n  },\n}',
    ],
    'keeps versions of types and of values': [
      "createEnvelope({ type: 'OrderCreated@1' }) as FullEvent<'OrderCreated@1'>\nconst type = isNew ? 'OrderCreated@1': 'OrderCancelled@1'",
      "createEnvelope({ type: 'OrderCreated@1' }) as FullEvent<'OrderCreated@1'>\nconst type = isNew ? 'OrderCreated@1': 'OrderCancelled@1'",
    ],
    'publishes without a key': [
      'await publish(orderEvents, orderId, event).catch(log)\nreturn publish(\n  topic,\n  keyOf({ a: [1, 2] }, ")"),\n  announcementOf(app, tenant, item),\n)',
      'await publish(orderEvents, event).catch(log)\nreturn publish(\n  topic,\n  announcementOf(app, tenant, item),\n)',
    ],
    'keeps calls of other functions, and calls without a key': [
      'sidecar.publish(topic, events)\nrepublish(a, b, c)\npublish(topic, envelope)\npublish(',
      'sidecar.publish(topic, events)\nrepublish(a, b, c)\npublish(topic, envelope)\npublish(',
    ],
  }
  for (const [title, [before, after]] of Object.entries(cases)) {
    it(title, () => {
      expect(movedSource(before, 'acme')).to.equal(after)
    })
  }
})

describe('movedServices', () => {
  const entry = { http: 5000, https: 5001, channel: 5100, replicas: 2 }
  const old = {
    partitions: { processes: 3, containers: 12 },
    lanes: 6,
    outside: ['orderevents'],
    services: {
      'order-service': {
        ...entry,
        consumes: { orderevents: 'background', paymentevents: 'prompt' },
        produces: { orderevents: ['OrderCreated'] },
      },
      'event-gateway': { ...entry, consumes: {}, produces: { orderevents: [] } },
    },
  }
  const own = { partitions: {}, portOffset: 2_000, topics: {}, services: {} }
  const example = {
    partitions: {},
    demo: { thing: 'order' },
    services: { 'order-service': old.services['order-service'] },
  }
  const constants = constantsIn(
    "/** A topic. */\nexport const orderEvents = 'orderevents'\n\nexport function other() {}",
  )

  it('declares topics with their constant, key and outside events', () => {
    expect(movedServices({ old, own, constants, example }).topics).to.deep.equal({
      orderevents: { constant: 'orderEvents', key: 'OrderId', outside: ['OrderCreated'] },
      paymentevents: { key: 'OrderId' },
    })
  })

  it('adds the port offset of the application, and keeps the other fields of services', () => {
    const { services, ...fields } = movedServices({ old, own, constants, example })
    expect(services['order-service']).to.deep.equal({
      ...old.services['order-service'],
      ...{ http: 7_000, https: 7_001, channel: 7_100 },
    })
    expect(fields).to.include({ portOffset: 2_000, consumersPerReplica: 6, partitions: old.partitions })
    expect(fields).not.to.have.any.keys('lanes', 'outside')
  })

  it('adds the demo of the example only to an application with all services of the example', () => {
    expect(movedServices({ old, own, constants, example }).demo).to.deep.equal({ thing: 'order' })
    const more = { ...example, services: { ...example.services, 'payment-service': example.services['order-service'] } }
    expect(movedServices({ old, own, constants, example: more })).not.to.have.property('demo')
  })
})

describe('movedSettings', () => {
  it('adds missing settings and sections, and keeps the others', () => {
    const old = { App: { Id: 'a' }, Web: { Host: '127.0.0.1' }, Policy: { ApproveUpTo: 1 } }
    const defaults = { App: { Id: 'b', Name: 'b' }, Web: { Host: 'localhost', Hosts: '' }, Trust: { Publishers: 'c' } }
    expect(movedSettings(old, defaults)).to.deep.equal({
      App: { Id: 'a', Name: 'b' },
      Web: { Host: '127.0.0.1', Hosts: '' },
      Policy: { ApproveUpTo: 1 },
      Trust: { Publishers: 'c' },
    })
  })
})

describe('movedManifest', () => {
  it('takes packages from the archives, and the contract from the application', () => {
    const old = {
      name: '@orderflow/order-service',
      exports: { './service': './src/service.ts' },
      dependencies: { '@orderflow/envelope-schema': '0.1.0', '@orderflow/service-kit': '0.1.0', pg: '^8.0.0' },
    }
    const versions = { '@orderflow/service-kit': 'file:../vendor/kit.tgz', '@acme/envelope-schema': '0.3.0' }
    expect(movedManifest(old, 'acme', versions)).to.deep.equal({
      name: '@acme/order-service',
      exports: { './service': './src/service.ts' },
      dependencies: {
        '@acme/envelope-schema': '0.3.0',
        '@orderflow/service-kit': 'file:../vendor/kit.tgz',
        pg: '^8.0.0',
      },
    })
  })
})

describe('movedTrust', () => {
  it('renames the values of unlisted, and keeps the publishers', () => {
    const publishers = { a: { name: 'legacy' } }
    const moved = (unlisted: string) => movedTrust({ $schema: 'old', unlisted, publishers }, 'new')
    expect(moved('taken-in')).to.deep.equal({ $schema: 'new', unlisted: 'accept', publishers })
    expect(moved('set-aside')).to.deep.equal({ $schema: 'new', unlisted: 'reject', publishers })
  })
})

describe('movedReadme', () => {
  const entry = { channel: 1, consumes: {}, produces: {} }
  const services = {
    'event-gateway': { http: 1, https: 2, ...entry },
    'order-service': { http: 3, https: 4, ...entry },
  }
  const [gateway, order] = [
    '| event-gateway | http://localhost:1/, https://localhost:2/ |\n',
    '| order-service | http://localhost:3/, https://localhost:4/ |\n',
  ]

  it('adds the addresses of the services after the last address', () => {
    expect(movedReadme(`| Service |\n${gateway}\n## Packages\n`, services)).to.equal(
      `| Service |\n${gateway}${order}\n## Packages\n`,
    )
  })
})
