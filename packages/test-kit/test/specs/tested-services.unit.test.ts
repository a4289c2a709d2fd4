import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Service, services } from '@orderflow/stack'
import { expect } from 'chai'
import { withSubject } from '../../src/specs/tested-services.ts'

describe('withSubject', () => {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tested-services-'))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const [first] = services
  const idle = { ...first, consumes: {}, publishes: {} }
  const consumer = { ...idle, name: 'booking-service', folder: 'booking', consumes: { bookings: 'prompt' } } as Service
  const publisher = { ...idle, name: 'desk-service', folder: 'desk', publishes: { bookings: ['Booked'] } } as Service
  const gateway = { ...idle, name: 'a-gateway', folder: 'node_modules/a', publishes: { bookings: [] } } as Service

  function writeSubject({ folder }: Service): void {
    mkdirSync(join(root, folder, 'test'), { recursive: true })
    writeFileSync(join(root, folder, 'test/subject.ts'), '')
  }

  it('includes each service that has a test/subject.ts', () => {
    for (const service of [consumer, publisher, gateway]) writeSubject(service)
    expect(withSubject([consumer, publisher, gateway], root)).to.deep.equal([consumer, publisher, gateway])
  })

  it('leaves out a service without test/subject.ts that only forwards or watches events', () => {
    expect(withSubject([gateway], root)).to.deep.equal([])
  })

  for (const service of [consumer, publisher]) {
    it(`names the missing test/subject.ts of ${service.name}, which consumes or publishes events`, () => {
      expect(() => withSubject([service], root)).to.throw(
        `${service.name} has no data for tests: create ${service.folder}/test/subject.ts`,
      )
    })
  }
})
