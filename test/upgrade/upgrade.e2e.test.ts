import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { orderWith } from '@orderflow/chaos/clients/api'
import { audit, totals } from '@orderflow/chaos/ledger/audit'
import { openBook } from '@orderflow/chaos/ledger/book'
import { readApi } from '@orderflow/chaos/ledger/read-api'
import { readLog } from '@orderflow/chaos/ledger/read-log'
import { type Load, startHttpLoad } from '@orderflow/chaos/load/http-load'
import { approveUpTo } from '@orderflow/chaos/load/orders'
import { createTally } from '@orderflow/chaos/load/tally'
import { orderEvents, paymentEvents } from '@orderflow/envelope-schema'
import { buildPackages, packPackages } from '@orderflow/packages'
import { type KafkaConnection, kafkaPasswords, securedKafka } from '@orderflow/stack'
import { pemOf, repository } from '@orderflow/stack/base'
import { claimFolder, localKafka } from '@orderflow/stack/internals'
import { operatorUser } from '@orderflow/stack/operate'
import { type Ended, runIn } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { keepLogs } from '../support/checkouts/keep-logs.ts'
import { checkOutRelease, releaseHas } from '../support/checkouts/last-release.ts'

const next = '99.0.0'
/** The application runs as processes, or in containers with `STACK=docker`. */
const { STACK = 'local' } = process.env
const packages = join(repository, 'dist/packages')

describe('./orderflow upgrade', function () {
  this.bail(true)
  const temporary = mkdtempSync(join(tmpdir(), 'orderflow-upgrade-test-'))
  const folder = join(temporary, 'upgraded-shop')
  const book = openBook({})
  const tally = createTally()
  let load: Load | undefined
  let isOver = false

  before(async () => {
    await createApplication(temporary, folder)
    await claimFolder(join(folder, '.stack'))
  })
  after(async () => {
    isOver = true
    await load?.end()
    await run('./orderflow', 'down')
    keepLogs(folder, 'upgrade')
    await run('./orderflow', 'clean')
    rmSync(temporary, { recursive: true, force: true })
  })

  const run = (command: string, ...args: string[]) => start(folder, command, args)
  async function succeeds(command: string, ...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(command, ...args)
    expect(code, stdout + stderr).to.equal(0)
    return stdout
  }
  const commit = async (subject: string) => {
    await succeeds('git', 'add', '--all')
    await succeeds('git', 'commit', '--quiet', '--message', subject)
  }
  /** Returns the address of a service in the stack of the application. */
  function urlOf(service: string): string {
    const { services } = JSON.parse(readFileSync(join(folder, 'services.json'), 'utf8'))
    return `http://127.0.0.1:${services[service].http}`
  }

  const ownServices = () => Object.keys(JSON.parse(readFileSync(join(folder, 'services.json'), 'utf8')).services)
  /** Returns the services that `make up` has restarted or replaced, in their order. */
  const restarts = (printed: string) =>
    [...printed.matchAll(/^.*?([\w-]+)(?:, [\w-]+)?: re(?:start|plac)ing/gm)].map(([, service]) => service)

  it('finds an application with a service of its own, which runs and receives orders', async () => {
    await succeeds('make', 'new-service', 'NAME=shipping-service')
    await commit('Add shipping-service')
    await succeeds('./orderflow', 'up')
    const plan = (index: number) => ({ name: `upgrade ${index}`, total: 42.5, cancelAfterMs: undefined })
    const options = { book, tally, keys: 'k', isOver: () => isOver, patienceMs: 250 }
    load = startHttpLoad(plan, 10, { ...options, urls: [urlOf('order-service')] })
  })

  it('refuses a local change of a generated file, and accepts the application after the change has moved', async () => {
    const original = (await succeeds('git', 'rev-parse', 'HEAD')).trim()
    appendFileSync(join(folder, 'docker-compose.yml'), '# A local change\n')
    await commit('Change a generated file')
    const { code, stderr } = await run('./orderflow', 'upgrade', packages)
    expect(code).to.equal(1)
    expect(stderr).to.match(/^error: .*docker-compose\.yml\nnext: move your changes to docker-compose\.override\.yml/)
    expect(await succeeds('git', 'branch', '--format=%(refname:short)')).to.equal('main\n')

    writeFileSync(join(folder, 'docker-compose.override.yml'), 'services:\n  kafka:\n    mem_limit: 2g\n')
    await succeeds('make', 'generate')
    await commit('Move a change to docker-compose.override.yml')
    expect(await succeeds('git', 'diff', '--stat', original, '--', 'docker-compose.yml')).to.equal('')
  })

  it('moves the application to the present sources on a branch, and runs its tests', async () => {
    await buildPackages(next)
    await packPackages()
    const printed = await succeeds('./orderflow', 'upgrade', packages)
    expect(printed).to.contain('Stored data, topics and .env').and.to.contain('To undo it:')
    expect(await succeeds('git', 'status', '--short')).to.equal('')
    const subjects = (await succeeds('git', 'log', '--format=%s', '--reverse')).trim().split('\n')
    expect(subjects.slice(0, 5)).to.deep.equal([
      'Create the application upgraded-shop',
      'Add shipping-service',
      'Change a generated file',
      'Move a change to docker-compose.override.yml',
      `Update the packages to ${next}`,
    ])
    for (const subject of subjects) expect(subject).to.match(/^[A-Z][a-z]+ .{1,60}$/)
    const generated = readFileSync(join(folder, '.gitattributes'), 'utf8')
    for (const file of ['components/postgresql/statestore-save.yaml', 'docker-compose.brokers.yml'])
      expect(generated).to.contain(`\n${file} linguist-generated\n`)
    const [target = 'no target'] =
      /^dev: .*\n.*\n/m.exec(readFileSync(join(repository, 'tools/new-app/template/Makefile'), 'utf8')) ?? []
    const makefile = readFileSync(join(folder, 'Makefile'), 'utf8')
    expect(makefile).to.contain(`\n${target}`).and.to.contain('\ninclude $(wildcard')
    expect(readFileSync(join(folder, '.mocharc.json'), 'utf8')).to.contain('"@orderflow/test-kit/time-limits"')
    expect(await succeeds('npm', 'test', '--', 'order-service')).to.match(/\n\d+ passed, 0 failed\n/)
  })

  it('restarts one service after the other with `make up`', async () => {
    expect(restarts(await succeeds('make', 'up'))).to.deep.equal(ownServices())
  })

  it('returns to the old version with the commands of the plan', async () => {
    await succeeds('git', 'switch', '--quiet', 'main')
    await succeeds('git', 'branch', '-D', `upgrade-${next}`)
    expect(restarts(await succeeds('make', 'up'))).to.deep.equal(ownServices())
  })

  it('pays each order that it accepted meanwhile once', async () => {
    await load?.end()
    const placed = book.query<{ id: string }>('SELECT id FROM attempt')
    for (const { id } of placed) await orderWith(urlOf('order-service'), id, 'Paid')
    await readLog(kafkaOf(folder), book, [orderEvents, paymentEvents])
    await readApi(urlOf, book)
    const findings = audit(book, { views: ['api'], approveUpTo })
    const [accepted, payments] = ['attempt WHERE accepted', 'stored_payment'].map(
      (rows) => book.query(`SELECT 1 FROM ${rows}`).length,
    )
    const { lost, duplicated } = totals(findings)
    const repeated = Object.values(tally.counts()).reduce((sum, count) => sum + count, 0) - placed.length
    console.log(
      `      ${accepted} accepted orders, ${payments} payments, ${lost} lost, ${duplicated} duplicated; ${repeated} requests repeated`,
    )
    expect(findings).to.deep.equal([])
    expect(payments).to.equal(accepted).and.to.be.above(100)
    await succeeds('./orderflow', 'demo')
  })
})

/**
 * Creates an application with the packages of the last release. A release that cannot create applications is replaced by the present sources with
 * the version 0.2.0.
 */
async function createApplication(temporary: string, DIR: string): Promise<void> {
  const program = 'tools/new-app/main.ts'
  const create = async (sources: string, env: Record<string, string>) => {
    const { code, stdout, stderr } = await start(sources, 'packages/cli/node', [program], { DIR, ...env })
    expect(code, stdout + stderr).to.equal(0)
  }
  if (!(await releaseHas(program))) return await create(repository, { VERSION: '0.2.0' })
  const release = join(temporary, 'release')
  const remove = await checkOutRelease(release)
  await create(release, {}).finally(remove)
}

function kafkaOf(folder: string): KafkaConnection {
  const port = 9092 + JSON.parse(readFileSync(join(folder, 'services.json'), 'utf8')).portOffset
  if (STACK === 'local') return localKafka(port)
  const env = parseEnv(readFileSync(join(folder, '.env'), 'utf8'))
  const password = env[kafkaPasswords[operatorUser] ?? ''] ?? ''
  const certificate = pemOf('CERTIFICATE', env.KAFKA_CERTIFICATE ?? '')
  return securedKafka(`localhost:${port}`, { username: operatorUser, password }, certificate)
}

const person = { NAME: 'Ada', EMAIL: 'ada@orderflow.example' }
const identity = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) =>
    Object.entries(person).map(([key, value]) => [`GIT_${role}_${key}`, value]),
  ),
)

function start(cwd: string, command: string, args: string[], env: Record<string, string> = {}): Promise<Ended> {
  return runIn(cwd, command, args, { ...identity, STACK, ...env })
}
