import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { runIn } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { type NewApplication, newApplication } from '../support/checkouts/new-application.ts'
import { succeeded } from '../support/documents/follow-document.ts'

/** The limits for files that a person edits. */
const [mostFiles, mostLines] = [80, 3_100]

describe('make new-app', () => {
  let parent: string
  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), 'orderflow-new-app-'))
  })
  afterEach(() => rmSync(parent, { recursive: true }))
  const refusalOf = async (...variables: string[]) => {
    const { code, stderr } = await runIn(repository, 'make', ['--silent', 'new-app', ...variables])
    expect(code).not.to.equal(0)
    return stderr.split('\n').slice(0, 2)
  }

  it('requires a folder', async () => {
    expect(await refusalOf()).to.deep.equal(['error: DIR is missing', 'next: make new-app DIR=../my-company'])
  })

  it('refuses a folder with files', async () => {
    const folder = join(parent, 'hotel')
    mkdirSync(folder)
    writeFileSync(join(folder, 'notes.txt'), '')
    expect(await refusalOf(`DIR=${folder}`)).to.deep.equal([
      `error: ${folder} is not empty`,
      'next: choose a folder that is missing or empty',
    ])
  })

  for (const name of ['My Hotel', 'hotel_1', '1hotel', 'a'.repeat(31)]) {
    it(`refuses the name ${name}`, async () => {
      expect(await refusalOf(`DIR=${join(parent, name)}`)).to.deep.equal([
        `error: ${name} is not a valid name of an application`,
        'next: the last part of DIR is the name: lower-case words joined by hyphens, with at most 30 characters',
      ])
    })
  }
})

describe('two applications with the example', () => {
  let apps: NewApplication[] = []
  before(async () => {
    for (const name of ['north', 'south']) {
      apps.push(await newApplication(name, (folder) => `make --silent new-app DIR='${folder}'`))
    }
  })
  after(async () => {
    for (const app of apps) await app.remove()
    apps = []
  })
  const each = (check: (app: NewApplication) => Promise<void>) => Promise.all(apps.map(check))
  const read = ({ folder }: NewApplication, path: string) => readFileSync(join(folder, path), 'utf8')

  /** Returns the committed files, and which of them .gitattributes marks as generated. */
  async function committed({ run }: NewApplication): Promise<{ generated: string[]; own: string[] }> {
    const { stdout: files } = await run('git', ['ls-files'])
    const all = files.trim().split('\n')
    const { stdout } = await run('git', ['check-attr', 'linguist-generated', ...all])
    const isGenerated = (file: string) => stdout.includes(`${file}: linguist-generated: set\n`)
    return { generated: all.filter(isGenerated), own: all.filter((file) => !isGenerated(file)) }
  }

  it(`needs edits in at most ${mostFiles} files and ${mostLines} lines`, () =>
    each(async (app) => {
      const { own } = await committed(app)
      expect(own).to.have.length.within(30, mostFiles)
      const lines = own.map((file) => read(app, file).split('\n').length - 1)
      expect(lines.reduce((sum, count) => sum + count)).to.be.within(1_000, mostLines)
    }))

  it('marks every file that `./orderflow generate` writes as a whole', () =>
    each(async (app) => {
      const { generated, own } = await committed(app)
      const script =
        "import { generatedFiles } from './node_modules/@orderflow/stack/src/generate/files.js'; console.log([...generatedFiles().keys()].join())"
      const { stdout } = await app.run('./orderflow', ['node', '--input-type=module', '-e', script])
      const written = stdout.trim().split(',')
      // A person also edits these files. `generate` changes only ports, scopes and the editor's configurations for debuggers in them.
      const shared = (file: string) => /(appsettings\.json|statestore\.yaml)$|^\.(devcontainer|vscode)/.test(file)
      expect(own.filter((file) => written.includes(file) && !shared(file))).to.deep.equal([])
      const ofKit = ['DeadlinePassed.1', 'CallAnswered.1'].map((type) => `schemas/events/${type}.json`)
      const others = ['types.gen.ts', 'schemas/common.json', ...ofKit].map((file) => `envelope-schema/${file}`)
      expect(generated).to.include.members([...written.filter((file) => !shared(file)), ...others])
    }))

  it('contains what a second `./orderflow generate` would write', () =>
    each(async ({ run }) => {
      const { stdout } = await run('./orderflow', ['generate'])
      expect(stdout).to.equal('nothing has changed\n')
      expect((await run('git', ['status', '--porcelain'])).stdout).to.equal('')
    }))

  it('names only existing programs in the chart', () => {
    for (const app of apps) {
      const { setup, exporter } = JSON.parse(read(app, 'chart/files/application.json')) as {
        setup: string[]
        exporter: { command: string[] }
      }
      for (const [, program = ''] of [setup, exporter.command]) {
        expect(existsSync(join(app.folder, program.replace(/^\/app\//, ''))), program).to.equal(true)
      }
    }
  })

  it('names only existing guides in the help of commands', () =>
    each(async ({ run, folder }) => {
      const help = await run('./orderflow', ['help'])
      const guides = help.stdout.match(/[\w@./-]*docs\/[\w.-]+\.md/g) ?? []
      expect(guides).to.include('node_modules/@orderflow/cli/docs/new-service.md')
      expect(guides.filter((guide) => !existsSync(join(folder, guide)))).to.deep.equal([])
    }))

  it('gives each application its own ports, ids, images and Compose project', () => {
    const own = apps.map((app) => {
      const compose = read(app, 'docker-compose.yml')
      const services = Object.values<{ http: number }>(JSON.parse(read(app, 'services.json')).services)
      const settings = ['order-service', 'event-monitor'].map((name) => read(app, `${name}/appsettings.json`))
      return [
        ...services.map(({ http }) => String(http)),
        ...settings.map((text) => String(JSON.parse(text).App.Id)),
        ...new Set([...compose.matchAll(/image: (.*\b(?:service|event).*)$/gm)].map(([, image]) => image)),
        /^name: (.*)$/m.exec(compose)?.[1],
      ]
    })
    expect(own.map((names) => names.length)).to.deep.equal([11, 11])
    expect(new Set(own.flat()).size).to.equal(22)
    expect(own.map((names) => names.at(-1))).to.deep.equal(['north', 'south'])
  })

  it('passes the checks of `make check`', async () => {
    for (const { run } of apps) succeeded(await run('make', ['check']))
  })

  it('runs the unit tests of `npm test` without a stack', async () => {
    const { run } = apps[0] as NewApplication
    const outcomeOf = async (...args: string[]) => {
      const ended = await run('npm', ['test', ...args])
      succeeded(ended)
      return ended.stdout.trimEnd().split('\n').at(-1)
    }
    expect(await outcomeOf()).to.match(/^\d\d+ passed, 0 failed$/)
    expect(await outcomeOf('--', 'payment.unit', '--fgrep', 'cancelled')).to.match(/^[1-9]\d* passed, 0 failed$/)
  })

  it('runs commands and services with source maps, so that stack traces name the TypeScript of the packages', async () => {
    const { run } = apps[0] as NewApplication
    const script = `
      import { processSpecs } from './node_modules/@orderflow/stack/src/processes/process/spec.js'
      import { createPlan } from './node_modules/@orderflow/stack/src/processes/plan.js'
      import { freePorts } from '@orderflow/stack'
      const { env } = processSpecs(await createPlan('.stack/plan', await freePorts()))['order-service']
      console.log(process.sourceMapsEnabled, env.NODE_OPTIONS)
      createPlan().catch(({ stack }) => console.log(stack))`
    const { stdout } = await run('./orderflow', ['node', '--input-type=module', '-e', script])
    expect(stdout).to.match(/^true --enable-source-maps\n.*@orderflow\/stack\/src\/processes\/plan\.ts:\d+/s)
  })

  it('runs both applications at the same time, and each demo ends with a paid order', async () => {
    for (const { run } of apps) succeeded(await run('make', ['up', 'STACK=local']))
    for (const { run } of apps) {
      const demo = await run('make', ['demo'])
      succeeded(demo)
      expect(demo.stdout).to.contain('the order is paid')
    }
    for (const { run } of apps) succeeded(await run('make', ['down']))
  })

  it('passes all tests of `make test`', async () => {
    const { run } = apps[0] as NewApplication
    succeeded(await run('make', ['test'], { STACK: 'local' }))
  })
})
