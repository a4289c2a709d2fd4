import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isSecretName } from '@orderflow/service-kit/secret-names'
import { expect } from 'chai'
import { repository } from '../../src/lib/paths.ts'
import { defaultPorts } from '../../src/lib/ports.ts'
import { entryOf } from '../../src/lib/services.ts'
import { createPlan, dataFolder, processNamesWith, recordServers } from '../../src/processes/plan.ts'
import { processSpecs } from '../../src/processes/process-spec.ts'
import { stackStatus } from '../../src/processes/status.ts'
import { removeFolders, temporaryFolder } from '../support.ts'

describe('the store of a stack of processes', () => {
  let folder: string
  beforeEach(() => {
    folder = temporaryFolder()
  })
  afterEach(removeFolders)

  it('defaults to SQLite, and a selected store stays selected until the data is removed', async () => {
    expect((await createPlan(folder, defaultPorts)).store).to.equal('sqlite')
    recordServers(await createPlan(folder, defaultPorts, { store: 'postgresql' }))
    expect((await createPlan(folder, defaultPorts)).store).to.equal('postgresql')
    expect(stackStatus(folder).map(({ name }) => name)).to.deep.equal(
      processNamesWith({ store: 'postgresql', brokers: 1 }),
    )
    rmSync(dataFolder(folder), { recursive: true })
    expect((await createPlan(folder, defaultPorts)).store).to.equal('sqlite')
  })

  it('determines processes, components and addresses, and keeps its password out of the arguments of programs', async () => {
    const specs = processSpecs(await createPlan(folder, defaultPorts, { store: 'postgresql' }))
    expect(specs).to.have.all.keys(...processNamesWith({ store: 'postgresql', brokers: 1 }))
    const { args, env } = entryOf(specs, 'order-sidecar')
    expect(args).to.include(join(repository, 'components/postgresql'))
    const { password, host } = new URL(env.State__ConnectionString ?? '')
    expect([host, password.length]).to.deep.equal([`127.0.0.1:${defaultPorts.postgresql}`, 32])
    for (const spec of Object.values(specs)) expect(spec.args.join(' '), spec.name).not.to.contain(password)
    expect(specs['order-service']?.env).not.to.have.property('State__ConnectionString')
  })

  it('puts tokens and passwords only into variables whose names mark them as secret', async () => {
    const plan = await createPlan(folder, defaultPorts, { store: 'postgresql' })
    const specs = Object.values(processSpecs(plan))
    const tokens = Object.values(plan.tokens).flatMap((own) => Object.values(own))
    const secrets = [...tokens, readFileSync(join(folder, 'postgresql.password'), 'utf8')]
    const variables = specs.flatMap(({ env }) => Object.entries(env))
    const names = variables
      .filter(([, value = '']) => secrets.some((secret) => value.includes(secret)))
      .map(([name]) => name)
    expect(names).to.include.members(['APP_API_TOKEN', 'Monitor__DryRuns', 'State__ConnectionString'])
    expect(names.filter((name) => !isSecretName(name))).to.deep.equal([])
  })
})

describe('the pages of a stack of processes', () => {
  afterEach(removeFolders)

  it('link to the monitor on this machine unless the environment names another address', async () => {
    const plan = await createPlan(temporaryFolder(), defaultPorts)
    const linked = () => processSpecs(plan)['order-service']?.env.Telemetry__MonitorPage
    expect(linked()).to.equal('http://localhost:5010/')
    process.env.Telemetry__MonitorPage = 'https://shop.example/monitor/'
    const inherited = linked()
    delete process.env.Telemetry__MonitorPage
    // The plan sets no value, so the process inherits the variable.
    expect(inherited).to.equal(undefined)
  })
})
