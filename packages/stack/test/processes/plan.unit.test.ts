import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { isSecretName } from '@orderflow/service-kit/setup'
import { expect } from 'chai'
import { parse } from 'yaml'
import { repository } from '../../src/application/paths.ts'
import { defaultPorts, entryOf, services, sidecarOf, storedServices } from '../../src/application/services.ts'
import { createPlan, dataFolder, type Plan, processNamesWith, recordStart } from '../../src/processes/plan.ts'
import { patientComponents, writePatientComponents } from '../../src/processes/process/components.ts'
import { processSpecs } from '../../src/processes/process/spec.ts'
import { runningStack } from '../../src/processes/running-stack.ts'
import { stackStatus } from '../../src/processes/status.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('the store of a stack of processes', () => {
  let folder: string
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(removeFolders)

  it('defaults to SQLite, and a selected store stays selected although its disk is lost', async () => {
    expect((await createPlan(folder, defaultPorts)).store).to.equal('sqlite')
    recordStart(await createPlan(folder, defaultPorts, { store: 'postgresql' }))
    expect((await createPlan(folder, defaultPorts)).store).to.equal('postgresql')
    expect(stackStatus(folder).map(({ name }) => name)).to.deep.equal(
      processNamesWith({ store: 'postgresql', brokers: 1 }),
    )
    rmSync(dataFolder(folder), { recursive: true, force: true })
    expect((await createPlan(folder, defaultPorts)).store).to.equal('postgresql')
  })

  it('stays the store of version 0.2.0 at the first start with this version', async () => {
    mkdirSync(dataFolder(folder))
    writeFileSync(join(dataFolder(folder), 'store'), 'postgresql')
    expect((await createPlan(folder, defaultPorts)).store).to.equal('postgresql')
  })

  it('determines processes, components and addresses, and keeps its password out of the arguments of programs', async () => {
    const specs = processSpecs(await createPlan(folder, defaultPorts, { store: 'postgresql' }))
    expect(specs).to.have.all.keys(...processNamesWith({ store: 'postgresql', brokers: 1 }))
    const { args, env } = entryOf(specs, 'order-sidecar')
    expect(args).to.include('components/postgresql')
    const { username, password, host } = new URL(env.State__ConnectionString ?? '')
    expect([username, host, password.length]).to.deep.equal([
      'order-service.store',
      `127.0.0.1:${defaultPorts.postgresql}`,
      32,
    ])
    const all = Object.values(specs).map((spec) => spec.env.State__ConnectionString)
    expect(new Set(all.filter(Boolean)).size).to.equal(storedServices.length)
    const ofAdministrator = readFileSync(join(folder, 'postgresql.password'), 'utf8')
    for (const uri of all) expect(uri ?? '').not.to.contain(ofAdministrator)
    for (const spec of Object.values(specs)) expect(spec.args.join(' '), spec.name).not.to.contain(password)
    expect(specs['order-service']?.env).not.to.have.property('State__ConnectionString')
  })

  it('puts tokens and passwords only into variables whose names mark them as secret', async () => {
    const plan = await createPlan(folder, defaultPorts, { store: 'postgresql' })
    const specs = Object.values(processSpecs(plan))
    const tokens = Object.values(plan.tokens).flatMap((own) => Object.values(own))
    const passwords = storedServices.map(({ name }) => join(folder, `postgresql-${name}.password`))
    const secrets = [...tokens, ...passwords.map((file) => readFileSync(file, 'utf8'))]
    const variables = specs.flatMap(({ env }) => Object.entries(env))
    const names = variables
      .filter(([, value = '']) => secrets.some((secret) => value.includes(secret)))
      .map(([name]) => name)
    expect(names).to.include.members(['APP_API_TOKEN', 'Monitor__DryRuns', 'State__ConnectionString'])
    expect(names.filter((name) => !isSecretName(name))).to.deep.equal([])
  })
})

describe('the sidecars of a stack of processes', () => {
  afterEach(removeFolders)

  it('start with the address of loopback, because daprd finds no other address on an offline machine', async () => {
    const specs = processSpecs(await createPlan(temporaryFolder(), defaultPorts))
    for (const service of services) {
      expect(specs[sidecarOf(service)]?.env, service.name).to.include({ DAPR_HOST_IP: '127.0.0.1' })
    }
  })
})

describe('the settings of a stack of processes', () => {
  const before = { ...process.env }
  afterEach(() => {
    for (const name of Object.keys(process.env)) delete process.env[name]
    Object.assign(process.env, before)
    removeFolders()
  })

  it('stay the same for every service and sidecar, whatever the shell of a later command has', async () => {
    const folder = temporaryFolder()
    const settings = { Auth__Mode: 'closed', Trust__SigningKeys: 'first', Web__Proxies: '1', HTTPS_PROXY: 'http://p' }
    Object.assign(process.env, settings)
    recordStart(await createPlan(folder, defaultPorts))
    for (const name of Object.keys(settings)) delete process.env[name]
    Object.assign(process.env, { Auth__Mode: 'open', Stream__SaslPassword: 'other', NO_PROXY: '*' })
    const plan = await createPlan(folder, defaultPorts)
    const own = Object.values(processSpecs(plan)).filter(({ name }) => name !== 'kafka')
    for (const { name, env } of own) {
      expect(env, name).to.include(settings)
      expect(env.NO_PROXY, name).not.to.equal('*')
      expect(env.Stream__SaslPassword, name).to.equal('')
    }
    expect(own[0]?.env.Auth__ApiKeys).to.match(/api-keys\.json$/)
    expect(runningStack(plan, true).signingKeys).to.equal('first')
    expect(statSync(join(folder, 'stack.json')).mode & 0o777).to.equal(0o600)
  })
})

describe('the pages of a stack of processes', () => {
  afterEach(removeFolders)

  it('link to the monitor on this machine unless a setting names another address', async () => {
    const plan = await createPlan(temporaryFolder(), defaultPorts)
    const linked = (variables: Plan['variables']) =>
      processSpecs({ ...plan, variables })['order-service']?.env.Telemetry__MonitorPage
    expect(linked({})).to.equal('http://localhost:5010/')
    const other = 'https://shop.example/monitor/'
    expect(linked({ Telemetry__MonitorPage: other })).to.equal(other)
  })
})

describe('a stack whose services a debugger can stop', () => {
  afterEach(removeFolders)

  it('opens an inspector only in the named services, and gives these services and their sidecars another version', async () => {
    const folder = temporaryFolder()
    const usual = processSpecs(await createPlan(folder, defaultPorts))
    const specs = processSpecs(await createPlan(folder, defaultPorts, {}, ['order-service']))
    const changed = Object.keys(specs).filter((name) => specs[name]?.version !== usual[name]?.version)
    expect(changed).to.deep.equal(['order-service', 'order-sidecar'])
    const inspected = Object.values(specs).filter(({ args }) => args.some((arg) => arg.startsWith('--inspect')))
    expect(inspected.map(({ name, ports }) => [name, ports.inspector])).to.deep.equal([
      ['order-service', defaultPorts.inspectors['order-service']],
    ])
  })

  it('lets a delivery take one day, and changes no other file of the components', async () => {
    const folder = temporaryFolder()
    writePatientComponents(folder)
    const copy = patientComponents(folder)
    const { args } = entryOf(
      processSpecs(await createPlan(folder, defaultPorts, {}, ['order-service'])),
      'order-sidecar',
    )
    const paths = [copy, join(copy, 'sqlite'), join(copy, 'configuration.yaml')]
    expect(args).to.include.members(paths.map((path) => relative(repository, path)))
    const files = readdirSync(copy, { recursive: true, encoding: 'utf8' }).filter((file) => /\.\w+$/.test(file))
    const original = (file: string) => readFileSync(join(repository, 'components', file), 'utf8')
    const changed = files.filter((file) => readFileSync(join(copy, file), 'utf8') !== original(file))
    expect(changed).to.deep.equal(['resiliency.yaml'])
    const { timeouts } = parse(readFileSync(join(copy, 'resiliency.yaml'), 'utf8')).spec.policies
    expect(timeouts).to.deep.equal({ handler: '24h' })
  })
})
