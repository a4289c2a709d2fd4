import { copyFileSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect } from 'chai'
import { ensureEnvFile, readProject } from '../../src/containers/project.ts'
import { repository } from '../../src/lib/paths.ts'
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
    expect(secrets).to.have.length(6)
    expect(new Set(secrets.map(([, value]) => value)).size).to.equal(6)
    for (const [name, value] of secrets) expect(value, name).to.match(/^[\w-]{32}$/)
    expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600)
  })

  it('names the project, so that the volumes of two checkouts are two', () => {
    ensureEnvFile(folder)
    expect(readProject(folder)?.name).to.match(/^orderflow-[0-9a-f]{4}$/)
  })

  it('tells where the containers are reached', () => {
    expect(readProject(folder)).to.equal(undefined)
    ensureEnvFile(folder)
    const { kafka, orderUrl } = readProject(folder) ?? {}
    expect(orderUrl).to.equal('http://localhost:5000')
    expect(kafka?.bootstrapBrokers).to.deep.equal(['localhost:9092'])
    expect(kafka?.sasl?.password).to.have.length(32)
  })
})
