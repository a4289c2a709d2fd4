import { defaultPorts } from '@orderflow/cli'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { createApp, createLog } from '@orderflow/service-kit'
import { FakeSidecar, scrape, withServer } from '@orderflow/service-kit/testing'
import { testedServices } from '@orderflow/test-kit'
import { expect } from 'chai'

const services = await testedServices()

// That each has a folder with settings of its name and ports is in packages/cli/test/generate/files.unit.test.ts.
describe('the topics of services.json', () => {
  it('have constants with the names under which they are created on the stream', () => {
    expect([orderEvents, paymentEvents]).to.deep.equal(['orderevents', 'paymentevents'])
  })
})

describe('the services of services.json', () => {
  for (const { name, consumes, produces, parts, definition } of services) {
    it(`say the same of ${name} as it does: what it consumes is what it reacts to`, () => {
      expect(Object.keys(parts.reactions)).to.have.members(Object.keys(consumes))
      for (const [topic, handlers] of Object.entries(parts.reactions)) {
        expect(Object.keys(handlers), topic).to.have.length.above(0)
      }
    })

    it(`say the same of ${name} as it does: what it produces`, () => {
      expect(definition.produces).to.have.members(produces)
    })

    it(`have an operation of ${name} refused for reasons only that it says of itself`, () => {
      const reasons = parts.routes.flatMap(({ operation }) => operation.refusals)
      expect(Object.keys(definition.refusals)).to.include.members(reasons)
    })
  }

  for (const { name, consumes, hasStore, parts, definition, settings } of services) {
    it(`have ${name} tell how it does, without a line of its own: each topic, each operation, and what it lacks`, async () => {
      const app = createApp(definition, {
        // Nobody is asked whether the stream is there.
        settings: { ...settings, Stream: { ...settings.Stream, Brokers: '' } },
        log: createLog(name, 'silent'),
        sidecar: new FakeSidecar(),
        now: () => new Date(),
        newId: () => crypto.randomUUID(),
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

  it('have one currency', () => {
    const currencies = services.flatMap(({ settings }) => (settings as { Money?: { Currency: string } }).Money ?? [])
    expect(currencies.length).to.be.above(1)
    expect(new Set(currencies.map(({ Currency }) => Currency)).size).to.equal(1)
  })

  it('have an AppId and ports of their own', () => {
    const ids = services.map(({ settings }) => settings.App.Id)
    expect(new Set(ids).size).to.equal(services.length)
    const ports = Object.values(defaultPorts.services).flatMap((own) => Object.values(own))
    expect(new Set(ports).size).to.equal(ports.length)
  })
})
