import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'chai'
import { moveCode } from '../code/move-code.ts'

const service = { http: 1, https: 2, channel: 3, consumes: {}, produces: { cakes: ['CakeBaked'] } }
const source = "import { cakes } from '@orderflow/envelope-schema'\npublish(cakes, id, event)\n"

const old = {
  'services.json': { partitions: {}, services: { 'cake-service': service, 'event-gateway': service } },
  'cake-service/package.json': {
    name: '@orderflow/cake-service',
    dependencies: { '@orderflow/envelope-schema': '0.1.0', '@orderflow/service-kit': '0.1.0' },
  },
  'cake-service/appsettings.json': { App: { Id: 'cakes', Name: 'cake-service' }, Web: { Host: 'here' } },
  'cake-service/src/bake.ts': source,
  'cake-service/node_modules/other/index.ts': source,
  'event-gateway/appsettings.json': { App: { Id: 'old-gateway' } },
  'envelope-schema/schemas/events/CakeBaked.1.json': { title: 'CakeBaked' },
  'envelope-schema/src/topics.ts': "export const cakes = 'cakes'\n",
  'components/trust/trust.json': { unlisted: 'set-aside', publishers: { legacy: {} } },
}
const own = {
  'package.json': { name: '@acme/acme' },
  'services.json': { partitions: {}, topics: {}, services: {} },
  'envelope-schema/package.json': { name: '@acme/envelope-schema', version: '0.3.0' },
  'event-gateway/package.json': { dependencies: { '@orderflow/service-kit': 'file:../vendor/kit.tgz' } },
  'event-gateway/appsettings.json': { App: { Id: 'new-gateway' }, Web: {} },
  'components/trust/trust.json': { $schema: 'schema.json', unlisted: 'accept' },
  'README.md': '# Acme\n',
}

describe('moveCode', () => {
  let parent: string
  let services: string[]
  const read = (file: string) => readFileSync(join(parent, 'acme', file), 'utf8')
  const json = (file: string) => JSON.parse(read(file))

  before(() => {
    parent = mkdtempSync(join(tmpdir(), 'orderflow-code-'))
    for (const [folder, files] of Object.entries({ old, acme: own })) {
      for (const [file, content] of Object.entries(files)) {
        mkdirSync(dirname(join(parent, folder, file)), { recursive: true })
        writeFileSync(join(parent, folder, file), typeof content === 'string' ? content : JSON.stringify(content))
      }
    }
    services = moveCode(join(parent, 'old'), join(parent, 'acme'))
  })
  after(() => {
    rmSync(parent, { recursive: true })
  })

  it('copies services in the form of this version, without installed packages', () => {
    expect(services).to.deep.equal(['cake-service'])
    expect(json('cake-service/package.json')).to.deep.equal({
      name: '@acme/cake-service',
      dependencies: { '@acme/envelope-schema': '0.3.0', '@orderflow/service-kit': 'file:../vendor/kit.tgz' },
    })
    expect(read('cake-service/src/bake.ts')).to.equal(
      "import { cakes } from '@acme/envelope-schema'\npublish(cakes, event)\n",
    )
    expect(() => read('cake-service/node_modules/other/index.ts')).to.throw('ENOENT')
  })

  it('keeps the AppIds of copied services and of the application’s own services', () => {
    expect(json('cake-service/appsettings.json').App.Id).to.equal('cakes')
    expect(json('event-gateway/appsettings.json')).to.deep.equal({ App: { Id: 'old-gateway' }, Web: {} })
  })

  it('keeps the settings of services, and adds the settings of this version', () => {
    expect(json('cake-service/appsettings.json').Web).to.deep.include({ Host: 'here', Hosts: '' })
  })

  it('copies schemas, topics and publishers, and lists the addresses of services', () => {
    expect(json('envelope-schema/schemas/events/CakeBaked.1.json')).to.deep.equal({ title: 'CakeBaked' })
    expect(json('services.json').topics).to.deep.equal({ cakes: { constant: 'cakes', key: 'OrderId' } })
    expect(json('components/trust/trust.json')).to.deep.equal({
      ...{ $schema: 'schema.json', unlisted: 'reject', publishers: { legacy: {} } },
    })
    expect(read('README.md')).to.match(/\n\| cake-service \| http:/)
  })
})
