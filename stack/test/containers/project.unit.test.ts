import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect } from 'chai'
import { ensureEnvFile, postgresqlFile, readProject, recordStore } from '../../src/containers/project.ts'
import { variableOf } from '../../src/containers/variables.ts'
import { repository } from '../../src/lib/paths.ts'
import { services } from '../../src/lib/services.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('.env', () => {
  let folder: string
  beforeEach(() => {
    folder = temporaryFolder()
    copyFileSync(join(repository, '.env.example'), join(folder, '.env.example'))
  })
  afterEach(removeFolders)

  it('is written once, for its owner only, with another random secret for each that the example leaves empty', () => {
    expect([ensureEnvFile(folder), ensureEnvFile(folder)]).to.deep.equal([true, false])
    const variables = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    const secrets = Object.entries(variables).filter(([name]) => /PASSWORD|TOKEN/.test(name))
    expect(secrets).to.have.length(3 + 2 * services.length)
    expect(new Set(secrets.map(([, value]) => value)).size).to.equal(secrets.length)
    for (const [name, value] of secrets) expect(value, name).to.match(/^[\w-]{32}$/)
    expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600)
  })

  it('gets the tokens of a service that has come since, and keeps what it has', () => {
    ensureEnvFile(folder)
    const before = readFileSync(join(folder, '.env'), 'utf8')
    const [first = ''] = services.map((service) => variableOf(service, 'APP_TOKEN'))
    writeFileSync(join(folder, '.env'), before.replace(new RegExp(`^${first}=.*\\n`, 'm'), ''))
    expect(ensureEnvFile(folder)).to.equal(true)
    const after = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    const { [first]: made, ...others } = after
    expect(parseEnv(before)).to.deep.include(others)
    expect(made).to.match(/^[\w-]{32}$/)
  })

  it('names the project, so that the volumes of two checkouts are two', () => {
    ensureEnvFile(folder)
    expect(readProject(folder)?.name).to.match(/^orderflow-[0-9a-f]{4}$/)
  })

  it('says which files Compose reads, and so which store there is; MongoDB where it says nothing', () => {
    ensureEnvFile(folder)
    const { COMPOSE_FILE: none, ...others } = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
    expect([none, readProject(folder)?.store]).to.deep.equal([undefined, 'mongodb'])
    for (let twice = 0; twice < 2; twice += 1) recordStore('postgresql', folder)
    const text = readFileSync(join(folder, '.env'), 'utf8')
    expect(text.match(/^COMPOSE_FILE=.*$/gm)).to.deep.equal([`COMPOSE_FILE=docker-compose.yml:${postgresqlFile}`])
    expect(readProject(folder)?.store).to.equal('postgresql')
    recordStore('mongodb', folder)
    expect(parseEnv(readFileSync(join(folder, '.env'), 'utf8'))).to.deep.equal(others)
    expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600)
  })

  it('tells where the containers are reached', () => {
    expect(readProject(folder)).to.equal(undefined)
    ensureEnvFile(folder)
    const { kafka, services: reached } = readProject(folder) ?? {}
    expect(reached?.['order-service']?.url).to.equal('http://localhost:5000')
    expect(kafka?.bootstrapBrokers).to.deep.equal(['localhost:9092'])
    expect(kafka?.sasl?.password).to.have.length(32)
  })
})
