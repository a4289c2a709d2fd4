import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { ApplicationError, applicationFile } from '../../src/application/file.ts'
import {
  eventsOf,
  outsideRefusal,
  parseApplication,
  readApplication,
  type ServiceEntry,
  topicOfEvent,
} from '../../src/application/index.ts'

const text = readFileSync(new URL('../../../../services.json', import.meta.url), 'utf8')

// biome-ignore lint/suspicious/noExplicitAny: each test puts another fault into this content
type Json = Record<string, any>

function problemsAfter(change: (content: Json) => void): readonly string[] {
  const content = JSON.parse(text) as Json
  change(content)
  try {
    parseApplication(JSON.stringify(content), 'services.json')
    return []
  } catch (error) {
    return (error as ApplicationError).problems
  }
}

describe('services.json', () => {
  it('matches its JSON Schema, and this schema matches the meta-schema', () => {
    const schema = JSON.parse(
      readFileSync(new URL('../../src/application/application.schema.json', import.meta.url), 'utf8'),
    )
    expect(new Ajv({ strict: false }).validateSchema(schema)).to.equal(true)
  })

  it('fills in the defaults of missing fields', () => {
    const { topics, reactions } = parseApplication(text, 'services.json')
    expect(topics.map(({ key }) => key)).to.deep.equal([['OrderId'], ['OrderId'], ['EntityId'], ['EntityId']])
    expect(reactions.map(({ about, within }) => [about, within])).to.deep.equal([
      ['OrderId', 30],
      ['OrderId', 30],
    ])
  })

  it('gives each topic a constant in camel case, and accepts a key of several fields', () => {
    const content = JSON.parse(text)
    content.topics.orderevents = { key: ['OrderId', 'CustomerName'] }
    content.topics['stock-events.v2'] = { key: 'Sku' }
    content.services['order-service'].consumes['stock-events.v2'] = 'prompt'
    const { topics } = parseApplication(JSON.stringify(content), 'services.json')
    const constants = topics.map(({ constant }) => constant)
    expect(constants).to.deep.equal(['orderevents', 'paymentEvents', 'stockEventsV2', 'deadlines', 'calls'])
    expect(topics[0]?.key).to.deep.equal(['OrderId', 'CustomerName'])
  })

  for (const { topic, event, name } of [
    { topic: 'deadlines', event: 'DeadlinePassed', name: 'order-service' },
    { topic: 'calls', event: 'CallAnswered', name: 'payment-service' },
  ] as const) {
    it(`gives services with ${topic} the topic of their events`, () => {
      const { services } = parseApplication(text, 'services.json')
      const { [topic]: has, consumes, produces } = services[name] as ServiceEntry
      expect(has).to.equal(true)
      expect(consumes).to.include({ [topic]: 'prompt' })
      expect(produces).to.deep.include({ [topic]: [event] })
      const content = JSON.parse(text)
      delete content.services[name][topic]
      const without = parseApplication(JSON.stringify(content), 'services.json')
      expect(without.topics.map((one) => one.name)).to.not.include(topic)
      expect(without.services[name]?.consumes).to.not.have.property(topic)
    })

    it(`refuses another topic with the name ${topic}, or with this constant`, () => {
      expect(problemsAfter((all) => (all.topics[topic] = { key: 'OrderId' }))).to.deep.equal([
        `/topics/${topic}: services with ${topic} use this topic; give yours another name`,
      ])
      expect(problemsAfter((all) => (all.topics.orderevents.constant = topic))).to.deep.equal([
        `/topics/orderevents: services with ${topic} use the constant ${topic}; give yours another one`,
      ])
    })
  }

  it('returns the events that services or outside applications may publish to a topic', () => {
    const content = JSON.parse(text)
    content.topics.orderevents.outside = ['OrderCreated']
    content.services['order-service'].produces = { orderevents: ['OrderCancelled'] }
    content.reactions = []
    const application = parseApplication(JSON.stringify(content), 'services.json')
    const [orders, payments] = application.topics
    if (!orders || !payments) throw new Error('there are two topics')
    expect(eventsOf(application, orders)).to.deep.equal(['OrderCancelled', 'OrderCreated'])
    expect(topicOfEvent(application, 'OrderCreated')).to.equal(orders)
    expect(payments.outside).to.deep.equal([])
    const refusalOf = (event: string, topic = 'orderevents') => outsideRefusal(application, event, topic)
    expect(refusalOf('OrderCreated')).to.equal(undefined)
    expect(refusalOf('NoSuchEvent')).to.equal(undefined)
    expect(refusalOf('OrderCreated', 'paymentevents')).to.equal('is an event of orderevents, not of paymentevents')
    expect(refusalOf('OrderCancelled')).to.equal(
      'is an event of orderevents that outside applications may not publish (docs/trust.md)',
    )
    expect(refusalOf('PaymentApproved')).to.equal(
      'is an event of paymentevents that outside applications may not publish (docs/trust.md)',
    )
  })

  const cases: [what: string, change: (content: Json) => void, problem: string][] = [
    [
      'an unknown field',
      (all) => (all.topics.orderevents.keys = 1),
      '/topics/orderevents/keys: no such field; remove it',
    ],
    ['a missing key', (all) => delete all.topics.orderevents.key, '/topics/orderevents/key: is missing; add it'],
    [
      'an undeclared topic',
      (all) => (all.services['order-service'].consumes.stock = 'prompt'),
      '/services/order-service/consumes/stock: unknown topic stock; add it to /topics, or use one of orderevents, paymentevents',
    ],
    [
      'an unused topic',
      (all) => (all.topics.stock = { key: 'Sku' }),
      '/topics/stock: no service produces or consumes it; remove it, or add it to a service',
    ],
    [
      'a key that no event has',
      (all) => (all.topics.paymentevents.key = 'ParcelId'),
      '/topics/paymentevents/key: no event of the topic has ParcelId; name a field of PaymentApproved, PaymentRejected, PaymentRefunded, PaymentPending, PaymentAuthorised',
    ],
    [
      'two topics with one constant',
      (all) => (all.topics.paymentevents.constant = 'orderEvents'),
      '/topics/paymentevents/constant: orderEvents is also the constant of another topic; choose another one',
    ],
    [
      'an event of two topics',
      (all) => all.services['payment-service'].produces.paymentevents.push('OrderCreated'),
      '/services/payment-service/produces/paymentevents: OrderCreated is also an event of orderevents; an event has one topic',
    ],
    [
      'an outside event that is in two topics',
      (all) => (all.topics.paymentevents.outside = ['OrderCreated']),
      '/topics/paymentevents/outside: OrderCreated is also an event of orderevents; an event has one topic',
    ],
    [
      'a topic with a wrong type of outside',
      (all) => (all.topics.paymentevents.outside = true),
      '/topics/paymentevents/outside: must be array',
    ],
    [
      'a reaction by an unknown service',
      (all) => (all.reactions[0].by = 'nobody'),
      '/reactions/0/by: unknown service nobody; use one of order-service, payment-service, event-gateway, event-monitor',
    ],
    [
      'a reaction by a service without such an event',
      (all) => (all.reactions[0].by = 'event-monitor'),
      '/reactions/0/by: event-monitor publishes none of PaymentApproved, PaymentRejected, PaymentRefunded, OrderCancelled; name the service that does',
    ],
    [
      'a reaction about a field that an event lacks',
      (all) => (all.reactions[0] = { ...all.reactions[0], answers: ['PaymentApproved'], about: 'PaymentId' }),
      '/reactions/0/about: OrderCreated has no field PaymentId; name a field that all of them have',
    ],
    [
      'an event that is about two fields',
      (all) =>
        all.reactions.push({
          after: 'PaymentApproved',
          answers: ['PaymentRefunded'],
          by: 'payment-service',
          within: 5,
          about: 'PaymentId',
        }),
      '/reactions/0/about, /reactions/2/about: PaymentApproved is about OrderId in the first and PaymentId in the second; use one field for it (default: the first key field of the topic of `after`)',
    ],
    [
      'an objective with the field after',
      (all) => (all.objective.after = 'OrderCreated'),
      '/objective/after: no such field; remove it',
    ],
    [
      'an objective of seconds that the metric has no bucket for',
      (all) => (all.objective.seconds = 2),
      '/objective/seconds: the metric orderflow_reaction_seconds has no bucket of 2 s; use one of 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600',
    ],
    [
      'a demo of an unknown service',
      (all) => (all.demo.service = 'nobody'),
      '/demo/service: unknown service nobody; use one of order-service, payment-service, event-gateway, event-monitor',
    ],
    [
      'two services with one port',
      (all) => (all.services['payment-service'].https = all.services['order-service'].http),
      '/services/payment-service/https: 5000 is also the port of /services/order-service/http; choose another one',
    ],
    ['a shared setting without a section', (all) => (all.settings.Money = 'EUR'), '/settings/Money: must be object'],
  ]
  for (const [what, change, problem] of cases) {
    it(`refuses a file with ${what}`, () => {
      expect(problemsAfter(change)).to.include(problem)
    })
  }

  it('refuses an event without a schema, and lists the events that have schemas', () => {
    const [problem] = problemsAfter((all) => all.services['order-service'].produces.orderevents.push('OrderShipped'))
    expect(problemsAfter((all) => all.topics.orderevents.outside.push('OrderShipped'))[0]).to.match(
      /^\/topics\/orderevents\/outside: OrderShipped has no schema; add /,
    )
    expect(problem)
      .to.match(/^\/services\/order-service\/produces\/orderevents: OrderShipped has no schema; add /)
      .and.contain('OrderCancelled, OrderCreated')
  })

  it('belongs to the nearest folder that has one, and an error reports that none has it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'application-'))
    try {
      mkdirSync(join(folder, 'node_modules/a-package'), { recursive: true })
      writeFileSync(join(folder, 'services.json'), '{}')
      expect(applicationFile(join(folder, 'node_modules/a-package'))).to.equal(join(folder, 'services.json'))
      expect(applicationFile(folder)).to.equal(join(folder, 'services.json'))
    } finally {
      rmSync(folder, { recursive: true })
    }
    expect(() => applicationFile('/no/folder'))
      .to.throw(ApplicationError)
      .with.property('message', 'services.json is invalid:\n  - was not found in /no/folder or above it')
  })

  it('reports the path of a file that is unreadable or not JSON', () => {
    expect(() => readApplication('/no/services.json'))
      .to.throw(ApplicationError)
      .with.property('message')
      .that.matches(/^\/no\/services.json is invalid:\n {2}- cannot be read: ENOENT/)
    expect(() => parseApplication('{', 'services.json')).to.throw('services.json is invalid:\n  - is not JSON')
  })
})
