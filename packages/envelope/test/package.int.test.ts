import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createEnvelope, validateBytes } from '@orderflow/envelope'
import { expect } from 'chai'
import { buildPackage } from '../build.ts'
import { app, orderCreated, reduced } from './support/documents.ts'

const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))
const name = '@orderflow/envelope-schema'

/** Returns the Node of this process and each Node in PATH. Some may be too old for the sources. */
function nodes(): [version: string, program: string][] {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'))
  const found = [process.execPath, ...onPath].flatMap((program): [string, string][] => {
    const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
    return status === 0 ? [[stdout.trim(), program]] : []
  })
  return [...new Map(found.reverse())].filter(([version]) => Number(/\d+/.exec(version)) >= 20)
}

// The text is indented, so that tools do not mistake its imports for imports of this file.
const user = `
  import { createEnvelope, type Envelope, EnvelopeError, orderEvents, parseEvent, selectEvent, type Verdict, validateDocument } from '${name}'
  import { keyOf } from '${name}/kafka'

  const payload = { OrderId: '${orderCreated.OrderId}', CustomerName: 'Ada', CustomerTaxId: 'GB-1', Total: 42.5 }
  const event: Envelope = createEnvelope({ type: 'OrderCreated@1', app: { id: '${app.id}', name: 'shop' }, payload, creationDate: new Date() })
  const verdict: Verdict = validateDocument(event, 'publisher')
  const selected = selectEvent(parseEvent(new TextEncoder().encode(JSON.stringify(event))), ['OrderCreated@1'])
  export const answer: [boolean, number | undefined, string | undefined, 'orderevents'] = [verdict.valid, selected?.Payload.Total, keyOf(event), orderEvents]
  export const isError = (error: unknown): boolean => error instanceof EnvelopeError && error.problems.length > 0
  // @ts-expect-error a Payload lacks what its schema requires
  export const wrong = () => createEnvelope({ type: 'OrderCreated@1', app: { id: '', name: '' }, payload: {}, creationDate: new Date() })
`

describe('the package for outside publishers', () => {
  let folder: string
  let packed: string[]
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'envelope package '))
    buildPackage(join(folder, 'built'))
    const npm = (...args: string[]) =>
      execFileSync('npm', [...args, '--silent', '--ignore-scripts'], { cwd: folder, encoding: 'utf8' })
    const [{ filename, files }] = JSON.parse(npm('pack', '--json', './built'))
    packed = files.map(({ path }: { path: string }) => path)
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'outside', private: true, type: 'module' }))
    npm('install', '--prefer-offline', '--no-audit', '--no-fund', `./${filename}`)
    writeFileSync(
      join(folder, 'full.json'),
      JSON.stringify(createEnvelope({ app, type: 'OrderCreated@1', payload: orderCreated, creationDate: new Date(0) })),
    )
    writeFileSync(join(folder, 'wrong.json'), JSON.stringify(reduced({ Payload: {} })))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  const cli = () => join(folder, 'node_modules/.bin/envelope')
  const runNode = (program: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
    return { status, stdout, stderr }
  }

  it('contains schemas, fixtures, JavaScript, types and documents, but no tests or sources', () => {
    expect(packed).to.include.members([
      'LICENSE',
      'README.md',
      'dist/index.d.ts',
      'dist/cli/main.js',
      'schemas/events/OrderCreated.1.json',
      'fixtures/valid/unicode.json',
      'asyncapi.json',
      'bundled/OrderCreated.1.full.json',
    ])
    expect(readFileSync(join(folder, 'node_modules', name, 'README.md'), 'utf8')).not.to.contain('](../')
    expect(packed.filter((path) => /(^|\/)(test|src)\/|(?<!\.d)\.ts$/.test(path))).to.deep.equal([])
    expect(readdirSync(join(folder, 'node_modules')))
      .to.include.members(['ajv', 'uuid'])
      .and.not.to.include('@platformatic')
  })

  for (const [version, program] of nodes()) {
    it(`loads in Node ${version} and runs its command there`, () => {
      const script = `import { validateBytes } from '${name}'
        import { readFileSync } from 'node:fs'
        console.log(JSON.stringify(['full', 'wrong'].map((file) => validateBytes(readFileSync(file + '.json'), 'receiver'))))`
      const { stdout, stderr } = runNode(program, '--input-type=module', '-e', script)
      const expected = ['full', 'wrong'].map((file) =>
        validateBytes(readFileSync(join(folder, `${file}.json`)), 'receiver'),
      )
      expect(stderr).to.equal('')
      expect(JSON.parse(stdout)).to.deep.equal(expected)
      expect(runNode(program, cli(), 'validate', 'full.json')).to.deep.equal({
        status: 0,
        stdout: '',
        stderr: 'full.json: 1 valid (1 full), 0 invalid\n',
      })
      expect(runNode(program, cli(), 'validate', 'wrong.json', '--json')).to.include({ status: 1 })
      const { status, stderr: lack } = runNode(
        program,
        cli(),
        'publish',
        '--brokers',
        'localhost:1',
        '--topic',
        'x',
        'full.json',
      )
      const needed = /^v20/.test(version)
        ? /^envelope: needs Node 22\.22 or newer/
        : /npm install @platformatic\/kafka@2\n$/
      expect(status).to.equal(2)
      expect(lack).to.match(needed)
    })
  }

  it('validates every fixture with the same result as the sources, using compiled validators', () => {
    const script = `import { validateDocument } from '${name}'
      import { readdirSync, readFileSync } from 'node:fs'
      const folder = 'node_modules/${name}/fixtures/'
      const files = ['valid', 'invalid'].flatMap((kind) => readdirSync(folder + kind).map((file) => folder + kind + '/' + file))
      const documents = files.map((file) => JSON.parse(readFileSync(file))).map(({ envelope, input }) => envelope ?? input ?? null)
      console.log(JSON.stringify(documents.map((document) => [document, validateDocument(document, 'publisher')])))`
    const judged: [unknown, unknown][] = JSON.parse(
      runNode(process.execPath, '--input-type=module', '-e', script).stdout,
    )
    expect(judged.length).to.be.greaterThan(50)
    for (const [document, verdict] of judged) {
      const bytes = Buffer.from(JSON.stringify(document))
      expect(verdict).to.deep.equal(JSON.parse(JSON.stringify(validateBytes(bytes, 'publisher'))))
    }
  })

  it('lets a strict TypeScript program compile with the types of the package and of its dependencies', () => {
    const options = { strict: true, skipLibCheck: false, module: 'nodenext', target: 'es2022', noEmit: true, types: [] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['user.ts'] }))
    writeFileSync(join(folder, 'user.ts'), user)
    expect(runNode(process.execPath, join(modules, '.bin/tsc'), '-p', 'tsconfig.json').stdout).to.equal('')
    const run = "import('./user.ts').then(({ answer }) => console.log(JSON.stringify(answer)))"
    expect(runNode(process.execPath, '-e', run).stdout).to.equal(
      `[true,42.5,"${orderCreated.OrderId}","orderevents"]\n`,
    )
  })
})
