import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { readersIn, readersOf } from '../../src/compat/readers.ts'

const total = { service: 'payment-service', type: 'OrderCreated@1', pointer: '/Total' }

describe('readersIn', () => {
  let application: string
  beforeEach(() => {
    application = mkdtempSync(join(tmpdir(), 'readers '))
  })
  afterEach(() => rmSync(application, { recursive: true }))

  function write(path: string, content: unknown) {
    mkdirSync(dirname(join(application, path)), { recursive: true })
    writeFileSync(join(application, path), typeof content === 'string' ? content : JSON.stringify(content))
  }
  const services = {
    'payment-service': { consumes: { orderevents: 'prompt' } },
    'event-gateway': { package: 'packages/event-gateway', consumes: {} },
  }

  it('reads the files of all services in services.json, also in the folder of a package', () => {
    write('services.json', { services })
    write('payment-service/test/reads.json', { 'OrderCreated@1': ['/Total'] })
    write('packages/event-gateway/test/reads.json', { 'OrderCreated@1': ['/OrderId'] })
    write('removed-service/test/reads.json', { 'OrderCreated@1': ['/OrderId'] })
    expect(readersIn(application)).to.deep.equal({
      readers: [total, { service: 'event-gateway', type: 'OrderCreated@1', pointer: '/OrderId' }],
      unknown: [],
    })
  })

  it('lists the services that consume events, but lack the file', () => {
    write('services.json', { services })
    expect(readersIn(application)).to.deep.equal({ readers: [], unknown: ['payment-service'] })
  })

  it('returns undefined for a folder that lacks services.json, such as the package for outside publishers', () => {
    expect(readersIn(application)).to.equal(undefined)
  })

  it('refuses a file that is not JSON, and names the next step', () => {
    write('services.json', { services })
    write('payment-service/test/reads.json', '{')
    expect(() => readersIn(application)).to.throw(
      'payment-service/test/reads.json is not JSON: delete it, and run the tests of payment-service, which write it again',
    )
  })
})

describe('readersOf', () => {
  const reads = (...pointers: string[]) => pointers.map((pointer) => ({ ...total, pointer }))
  const found = (pointer: string, ...pointers: string[]) =>
    readersOf(reads(...pointers), ['OrderCreated@1'], pointer).map((each) => each.pointer)

  it('finds readers of the field, and of fields inside it', () => {
    expect(found('/Total', '/Total', '/Total/Amount', '/TotalCount', '/OrderId')).to.deep.equal([
      '/Total',
      '/Total/Amount',
    ])
    expect(found('/Lines', '/Lines/*/Amount')).to.deep.equal(['/Lines/*/Amount'])
    expect(found('', '/Total', '/OrderId')).to.deep.equal(['/Total', '/OrderId'])
  })

  it('ignores readers of other fields in the same object', () => {
    expect(found('/Total/Amount', '/Total/Currency', '/Total')).to.deep.equal([])
    expect(found('/Lines/*/Amount', '/Lines', '/Lines/*/Currency')).to.deep.equal([])
  })

  it('finds readers of a list if the rules of its items change', () => {
    expect(found('/Tags/*', '/Tags')).to.deep.equal(['/Tags'])
    expect(found('/Grid/*/*', '/Grid')).to.deep.equal(['/Grid'])
  })

  it('finds only readers of the given types', () => {
    const newer = { ...total, type: 'OrderCreated@2' }
    expect(readersOf([total, newer], ['OrderCreated@2'], '/Total')).to.deep.equal([newer])
  })
})
