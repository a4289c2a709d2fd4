import { defaultPorts } from '@orderflow/stack'
import { expect } from 'chai'
import { testedServices } from './support/tested-services.ts'

const services = await testedServices()

// That each has a folder with settings of its name and ports is in stack/test/generate/files.unit.test.ts.
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

  it('have an AppId and ports of their own', () => {
    const ids = services.map(({ settings }) => settings.App.Id)
    expect(new Set(ids).size).to.equal(services.length)
    const ports = Object.values(defaultPorts.services).flatMap((own) => Object.values(own))
    expect(new Set(ports).size).to.equal(ports.length)
  })
})
