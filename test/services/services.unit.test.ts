import { calls, deadlines, orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { createApp, createLog, readSettings, type section } from '@orderflow/service-kit'
import { FakeSidecar, scrape, withServer } from '@orderflow/service-kit/testing'
import { defaultPorts } from '@orderflow/stack'
import { testedServices } from '@orderflow/test-kit'
import { expect } from 'chai'

const services = await testedServices()
const silent = {
  ...{ log: createLog('service', 'silent'), sidecar: new FakeSidecar() },
  ...{ now: () => new Date(), newId: () => crypto.randomUUID() },
}

describe('the generated constants of topics', () => {
  it('contains the names of the topics in Kafka', () => {
    expect([orderEvents, paymentEvents]).to.deep.equal(['orderevents', 'paymentevents'])
  })
})

describe('services.json', () => {
  for (const { name, consumes, produces, parts, definition } of services) {
    it(`declares for ${name} the topics that it reacts to`, () => {
      expect(Object.keys(parts.reactions)).to.have.members(Object.keys(consumes))
      for (const [topic, handlers] of Object.entries(parts.reactions)) {
        expect(Object.keys(handlers), topic).to.have.length.above(0)
      }
    })

    it(`declares for ${name} the events that it produces`, () => {
      const ofKit = { DeadlinePassed: deadlines, CallAnswered: calls }
      const own = Object.entries(ofKit).flatMap(([event, topic]) =>
        parts.entities?.some(({ events }) => events.includes(event)) ? topic : [],
      )
      expect([...definition.produces, ...own]).to.have.members(produces)
    })

    it(`declares every reason for which an operation of ${name} rejects a request`, () => {
      const reasons = parts.routes.flatMap(({ operation }) => operation.refusals)
      expect(Object.keys(definition.refusals)).to.include.members(reasons)
    })
  }

  it('lists the events and deadlines of entities, otherwise the service refuses to start', () => {
    const [order, payment] = ['order-service', 'payment-service'].map((each) =>
      services.find(({ name }) => name === each),
    )
    const started = () =>
      createApp(order?.definition as never, {
        ...silent,
        settings: { ...order?.settings, App: payment?.settings.App } as never,
      })
    const missing = (event: string) =>
      `/services/payment-service/produces: ${event} of order is missing; add it to its topic, then run make generate`
    expect(started)
      .to.throw('services.json is invalid')
      .with.property('problems')
      .that.deep.equals([
        ...['OrderCreated', 'OrderCancelled', 'OrderReminded', 'OrderExpired'].map(missing),
        '/services/payment-service/deadlines: must be true, because order has deadlines or schedules; change it, then run make generate',
      ])
  })

  for (const { name, consumes, hasStore, parts, definition, settings } of services) {
    it(`makes ${name} export metrics for each topic, each operation and each dependency`, async () => {
      const app = createApp(definition, {
        // The setting Brokers is empty, so the app does not check the connection to Kafka.
        settings: { ...settings, Stream: { ...settings.Stream, Brokers: '' } },
        ...silent,
      })
      const { method, path } =
        parts.routes.map((route) => route.operation).find(({ path }) => !path.includes('{')) ?? {}
      await withServer(app.web, (url) => fetch(`${url}${path}`, { method: method ?? 'get' }))
      const found = [...(await scrape(app.metrics)).keys()]
      for (const topic of Object.keys(consumes)) {
        expect(found).to.include(`orderflow_events_total{topic="${topic}",outcome="handled"}`)
        expect(found).to.include(`orderflow_dead_letters_total{topic="${topic}",reason="untrusted"}`)
      }
      expect(found.join('\n')).to.match(new RegExp(`route="${path}",status="[24]xx"`))
      const ready = found.filter((name) => name.startsWith('orderflow_ready'))
      const lacked = ['sidecar', ...(hasStore ? ['store'] : []), 'stream']
      expect(ready).to.have.members(lacked.map((part) => `orderflow_ready{part="${part}"}`))
    })
  }

  const ownSettings = services.flatMap(({ name, definition }) =>
    Object.entries<ReturnType<typeof section>>(definition.sections ?? {}).flatMap(([section, { properties }]) =>
      Object.entries(properties).map(([key, { shared }]) => ({
        service: name,
        definition,
        variable: `${section}__${key}`,
        shared,
      })),
    ),
  )
  const common = ownSettings.filter(({ service, variable }) =>
    ownSettings.some((other) => other.variable === variable && other.service !== service),
  )

  it('contains the values of all settings that several services define', () => {
    expect(common.map(({ variable, shared }) => ({ variable, shared }))).to.deep.equal(
      ['Money__Currency', 'Money__Currency'].map((variable) => ({ variable, shared: true })),
    )
  })

  for (const { service, definition, variable } of common) {
    it(`contains the only value of ${variable} that ${service} accepts`, () => {
      const tokens = { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr' }
      const read = (value: string) => readSettings(definition, { ...tokens, [variable]: value })
      expect(read('EUR')).to.have.nested.property('Money.Currency', 'EUR')
      for (const value of ['USD', 'eur', ''])
        expect(() => read(value), value).to.throw(`${variable}: "settings" of services.json has another value, EUR`)
    })
  }

  it('gives each service its own AppId and ports', () => {
    const ids = services.map(({ settings }) => settings.App.Id)
    expect(new Set(ids).size).to.equal(services.length)
    const ports = Object.values(defaultPorts.services).flatMap((own) => Object.values(own))
    expect(new Set(ports).size).to.equal(ports.length)
  })
})
