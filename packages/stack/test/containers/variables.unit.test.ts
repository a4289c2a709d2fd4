import { appendFileSync, copyFileSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { expect } from 'chai'
import { repository } from '../../src/application/paths.ts'
import { ensureEnvFile, readProject } from '../../src/containers/project.ts'
import { composeEnvironment, recordVariables, requireRecorded } from '../../src/containers/variables.ts'
import { expectRefusalOf, refusal, removeFolders, temporaryFolder } from '../support.ts'

/** One variable of each kind that docker-compose.yml, and here its override file, read. */
const given = {
  Auth__Mode: 'closed',
  Auth__Issuer: 'https://login.example/realm?x=1',
  Web__Proxies: '1',
  Web__Hosts: 'shop.example,other.example',
  SIGNING_KEYS: 'first,second',
  SIGNED_SINCE: '2026-11-21T10:00:00Z',
  OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a b#c$d',
  ORDER_HTTP_PORT: '5999',
  KAFKA_2_PORT: '9999',
  Limits__CallerPerMinute: '5',
}

describe('recordVariables and composeEnvironment', () => {
  let folder: string
  beforeEach(async () => {
    folder = temporaryFolder()
    for (const file of ['.env.example', ...globSync('docker-compose*.yml', { cwd: repository })])
      copyFileSync(join(repository, file), join(folder, file))
    const variables = `Limits__CallerPerMinute: "\${Limits__CallerPerMinute-}", X: "$\${NO_VARIABLE}"`
    const override = `services: { order-service: { environment: { ${variables} } } }\n`
    writeFileSync(join(folder, 'docker-compose.override.yml'), override)
    await ensureEnvFile(folder)
  })
  afterEach(removeFolders)

  const recorded = () => parseEnv(readFileSync(join(folder, '.env'), 'utf8'))

  it('keep the variables of a shell in .env, which only its owner can read, and Compose reads them only there', () => {
    const { MONGO_PASSWORD } = recorded()
    const others = { PATH: '/bin', DOCKER_HOST: 'unix:///x', STACK: 'docker', NO_VARIABLE: 'x', MONGO_PASSWORD: '' }
    recordVariables({ ...given, ...others }, false, folder)
    expect(recorded())
      .to.include({ ...given, MONGO_PASSWORD })
      .and.not.have.any.keys('PATH', 'STACK', 'NO_VARIABLE')
    expect(statSync(join(folder, '.env')).mode & 0o777).to.equal(0o600)
    const selectors = { COMPOSE_FILE: 'other.yml', COMPOSE_PROFILES: 'grafana', COMPOSE_PROJECT_NAME: 'other' }
    const { MONGO_PASSWORD: _, ...kept } = others
    expect(composeEnvironment({ ...given, ...others, ...selectors }, folder)).to.deep.equal(kept)
  })

  it('keep the variables of the last shell for one that lacks them, and use the ports and the project of .env', () => {
    recordVariables({ ...given, COMPOSE_PROJECT_NAME: 'mine' }, false, folder)
    const before = recorded()
    recordVariables({}, false, folder)
    recordVariables(given, true, folder)
    expect(recorded()).to.deep.equal(before)
    expect(readProject(folder)).to.have.property('name', 'mine')
    expect(readProject(folder)?.services['order-service']?.url).to.equal('http://localhost:5999')
  })

  for (const [name, value] of Object.entries(given)) {
    it(`refuse another value of ${name} while the stack runs, and keep both values secret`, () => {
      recordVariables(given, false, folder)
      const before = recorded()
      for (const work of [
        () => recordVariables({ [name]: 'other' }, true, folder),
        () => requireRecorded({ [name]: 'other' }, folder),
      ]) {
        expectRefusalOf(name, value, work)
      }
      expect(recorded()).to.deep.equal(before)
    })
  }

  it('change or empty a variable of .env if the stack does not run', () => {
    recordVariables(given, false, folder)
    recordVariables({ Auth__Mode: 'open', Web__Proxies: '' }, false, folder)
    expect(recorded()).to.include({ Auth__Mode: 'open', Web__Proxies: '' })
    expect(readFileSync(join(folder, '.env'), 'utf8').match(/^Auth__Mode=/gm)).to.have.length(1)
  })

  it('refuse a value that .env cannot contain, and keep a value that was written by hand', () => {
    expect(refusal(() => recordVariables({ Web__Hosts: "a'b" }, false, folder))).to.match(
      /^usage: the value of Web__Hosts has a quote.*; write Web__Hosts into \.env/,
    )
    appendFileSync(join(folder, '.env'), 'Auth__Mode=closed\n')
    expect(refusal(() => requireRecorded({ Auth__Mode: 'open' }, folder))).to.contain('Auth__Mode')
    expect(refusal(() => requireRecorded({}, folder))).to.equal(undefined)
  })
})
