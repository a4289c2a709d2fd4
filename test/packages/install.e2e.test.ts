import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPackages, packPackages } from '@orderflow/packages'
import { repository, runTool } from '@orderflow/stack/base'
import { expect } from 'chai'
import { type Registry, startRegistry } from '../support/programs/registry.ts'
import { packagesTools } from './tools.ts'

const contract = '@orderflow/envelope-schema'

describe('the installation of the packages', () => {
  let registry: Registry
  let folder: string
  const application = () => join(folder, 'application')
  const publisher = () => join(folder, 'publisher')
  let names: string[]

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'orderflow-installed-'))
    registry = await startRegistry()
    await buildPackages()
    const archives = await packPackages()
    for (const archive of [...archives.values(), await packContract()]) await registry.publish(archive)
    names = [...archives.keys()].map((name) => `@orderflow/${name}`)
    await install(application(), names)
    await install(publisher(), [contract])
    for (const name of [
      'services.json',
      'components/trust',
      'envelope-schema/schemas',
      'envelope-schema/topics.json',
    ]) {
      cpSync(join(repository, name), join(application(), name), { recursive: true })
    }
  })
  after(async () => {
    await registry?.stop()
    rmSync(folder, { recursive: true })
  })

  async function install(target: string, packages: string[]): Promise<void> {
    mkdirSync(target)
    writeFileSync(join(target, 'package.json'), JSON.stringify({ name: 'installed', private: true, type: 'module' }))
    await runTool('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: target, env: registry.env })
  }

  /** Loads the entry points of packages in one process. @returns a line for each failure */
  function failedImports(node: string, target: string, packages: string[]): string {
    const script = `for (const entry of ${JSON.stringify(packages.flatMap((name) => entriesOf(target, name)))}) {
      await import(entry).catch((error) => console.log(entry, error.message))
    }`
    return evaluate(node, target, script)
  }

  it('lets an application load every entry point', () => {
    expect(failedImports(process.execPath, application(), names)).to.equal('')
  })

  it('installs the command envelope', () => {
    const { status, stdout } = spawnSync('npx', ['--no-install', 'envelope', '--version'], {
      cwd: application(),
      encoding: 'utf8',
      env: { ...process.env, ...registry.env },
    })
    expect({ status, stdout }).to.deep.equal({
      status: 0,
      stdout: `envelope ${readManifest(application(), '@orderflow/envelope').version}\n`,
    })
  })

  it('runs a service that has only its definition and its settings', () => {
    const folderOfService = join(application(), 'part-service')
    mkdirSync(folderOfService)
    const template = 'node_modules/@orderflow/stack/templates/new-service/appsettings.json'
    cpSync(join(application(), template), join(folderOfService, 'appsettings.json'))
    writeFileSync(join(folderOfService, 'service.ts'), service)
    const answer = evaluate(process.execPath, folderOfService, "await import('./service.ts')")
    expect(answer).to.equal('200 {"id":"6f9619ff-8b86-d011-b42d-00cf4fc964ff"}\n')
  })

  it('names the lines of the TypeScript in stack traces', () => {
    const script = `const { readSettings } = await import('@orderflow/service-kit')
      try { readSettings({ root: new URL('missing/', import.meta.url) }, {}) } catch ({ stack }) { console.log(stack) }`
    const file = 'service-kit/src/runtime/settings/settings.ts'
    const lines = readFileSync(join(repository, 'packages', file), 'utf8').split('\n')
    const lineIn = (stack: string, extension: string) => {
      const [, line] = new RegExp(`/@orderflow/${file.replace(/ts$/, extension)}:(\\d+)`).exec(stack) ?? []
      return lines[Number(line) - 1]
    }
    expect(lineIn(evaluate(process.execPath, application(), script, '--enable-source-maps'), 'ts')).to.contain(
      'readFileSync(',
    )
    // Images contain no source maps.
    expect(lineIn(evaluate(process.execPath, application(), script), 'js')).to.contain('readFileSync(')
  })

  it('includes a contract that loads in this Node and in the oldest supported Node', async () => {
    const { oldNode } = await packagesTools()
    expect(evaluate(oldNode, publisher(), 'console.log(process.version)')).to.match(/^v20\./)
    const script = `import { validateDocument } from '${contract}'
      console.log(validateDocument({}, 'publisher').valid)`
    for (const node of [process.execPath, oldNode]) {
      expect(failedImports(node, publisher(), [contract])).to.equal('')
      expect(evaluate(node, publisher(), script)).to.equal('false\n')
      const command = join(publisher(), 'node_modules/.bin/envelope')
      expect(spawnSync(node, [command, '--version'], { encoding: 'utf8' }).stdout).to.match(/^envelope \d/)
    }
  })
})

// The text is indented, so that tools do not mistake its imports for imports of this file.
const service = `
  import { createApp, createLog, defineService, guidText, model, readSettings, route } from '@orderflow/service-kit'
  import { FakeSidecar, withServer } from '@orderflow/service-kit/testing'

  const service = defineService({
    root: new URL('.', import.meta.url),
    description: 'Parts.',
    produces: [],
    refusals: {},
    create: () => ({
      reactions: {},
      routes: [
        route({
          method: 'get',
          path: '/v1/parts',
          scope: 'parts:read',
          summary: 'Get the part',
          input: {},
          answers: { 200: 'The part.' },
          body: model('Part', { id: guidText }),
          handle: async () => ({ status: 200, body: { id: '6f9619ff-8b86-d011-b42d-00cf4fc964ff' } }),
        }),
      ],
    }),
  })
  // In an application, make generate writes these settings.
  const ports = ['Web__HttpPort', 'Web__HttpsPort', 'AppChannel__Port', 'Metrics__Port', 'Sidecar__HttpPort', 'Sidecar__GrpcPort']
  const generated = { ...Object.fromEntries(ports.map((name) => [name, '1'])), Stream__PubSub: 'pubsub' }
  const settings = readSettings(service, { APP_API_TOKEN: 'app', DAPR_API_TOKEN: 'dapr', ...generated })
  const log = createLog('part-service', 'silent')
  const context = { settings, log, sidecar: new FakeSidecar(), now: () => new Date(), newId: () => crypto.randomUUID() }
  await withServer(createApp(service, context).web, async (url) => {
    const response = await fetch(url + '/v1/parts')
    console.log(response.status, await response.text())
  })
`

async function packContract(): Promise<string> {
  const printed = await runTool(process.execPath, ['packages/envelope/build.ts'], { cwd: repository })
  return join(repository, printed.trim())
}

/** Runs a module in a folder. @returns its standard output */
function evaluate(node: string, cwd: string, script: string, ...options: string[]): string {
  const args = [...options, '--input-type=module', '-e', script]
  const { status, stdout, stderr } = spawnSync(node, args, { cwd, encoding: 'utf8' })
  expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' })
  return stdout
}

const readManifest = (target: string, name: string) =>
  JSON.parse(readFileSync(join(target, 'node_modules', name, 'package.json'), 'utf8')) as {
    version: string
    exports: Record<string, unknown>
  }

/** Returns the modules of a package. Leaves out the command, which runs when it is imported. */
const entriesOf = (target: string, name: string) =>
  Object.keys(readManifest(target, name).exports)
    .filter((entry) => entry !== './command' && !/[*]|\.json$/.test(entry))
    .map((entry) => join(name, entry))
