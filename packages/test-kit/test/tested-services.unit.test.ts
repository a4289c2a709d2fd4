import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Service, services } from '@orderflow/cli'
import { expect } from 'chai'
import { withSubject } from '../src/tested-services.ts'

describe('withSubject', () => {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'tested-services-'))
  })
  afterEach(() => rmSync(root, { recursive: true }))

  const [first] = services
  const serviceIn = (name: string, folder: string) => ({ ...first, name, folder }) as Service
  const own = serviceIn('booking-service', 'booking-service')
  const gateway = serviceIn('event-gateway', 'packages/event-gateway')

  it('leaves out a service in packages/ that has no test/subject.ts, and keeps every other service', () => {
    expect(withSubject([own, gateway], root)).to.deep.equal([own])
  })

  it('includes a service in packages/ that has a test/subject.ts', () => {
    mkdirSync(join(root, gateway.folder, 'test'), { recursive: true })
    writeFileSync(join(root, gateway.folder, 'test/subject.ts'), '')
    expect(withSubject([own, gateway], root)).to.deep.equal([own, gateway])
  })
})
