import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { eventTypes, payloadFields } from '@orderflow/envelope-schema'
import { application, services, sidecarOf } from '@orderflow/stack'
import { repository } from '@orderflow/stack/base'
import { generatedFiles } from '@orderflow/stack/internals'
import { sourceFiles } from '@orderflow/test-kit/stacks'
import { expect } from 'chai'
import { circlesIn, declaredIn, type Package, packagesOf, readPackages, type SourceFile } from './imports.ts'

/** Maps each folder of a package to the folders that its files may import. */
const rooms: Record<string, Record<string, string[]>> = {
  'packages/envelope/src': {
    schemas: [],
    validation: ['schemas'],
    envelope: ['schemas', 'validation'],
    asyncapi: ['schemas'],
    compat: ['schemas', 'validation'],
    kafka: ['schemas'],
    cli: ['schemas', 'validation', 'envelope', 'compat', 'kafka'],
  },
  'packages/service-kit/src': {
    application: [],
    telemetry: ['application', 'json.ts'],
    auth: ['json.ts', 'limits.ts', 'remembered.ts'],
    sidecar: ['telemetry', 'json.ts', 'limits.ts', 'remembered.ts'],
    money: [],
    calls: ['telemetry', 'json.ts'],
    trust: ['application'],
    state: ['telemetry', 'sidecar', 'remembered.ts'],
    stream: ['telemetry', 'sidecar', 'trust', 'json.ts', 'limits.ts'],
    web: ['telemetry', 'auth', 'sidecar', 'money', 'json.ts'],
    entity: ['telemetry', 'calls', 'sidecar', 'state', 'stream', 'web'],
    runtime: [
      ...['application', 'telemetry', 'auth', 'calls', 'sidecar', 'trust', 'state', 'stream', 'web', 'entity'],
      ...['json.ts', 'limits.ts'],
    ],
    operations: ['application', 'telemetry', 'sidecar', 'trust', 'state', 'stream', 'runtime', 'json.ts', 'limits.ts'],
    testing: ['application', 'telemetry', 'sidecar', 'trust', 'stream', 'operations'],
  },
  'packages/stack/src': {
    base: [],
    application: ['base'],
    stores: ['base', 'application'],
    kafka: ['base', 'application'],
    provision: ['base', 'application'],
    backup: ['base', 'application', 'kafka'],
    observe: ['base', 'application', 'kafka'],
    processes: ['base', 'application', 'stores', 'kafka', 'provision', 'observe', 'runner.ts'],
    containers: ['base', 'application', 'kafka', 'provision', 'runner.ts'],
    kubernetes: ['base', 'application', 'stores', 'kafka', 'provision', 'containers', 'runner.ts'],
    dev: ['base', 'application', 'processes', 'runner.ts', 'runners.ts', 'start.ts'],
    operations: [
      ...['base', 'application', 'kafka', 'backup', 'processes', 'kubernetes'],
      ...['runner.ts', 'runners.ts', 'start.ts'],
    ],
    generate: ['base', 'application', 'stores', 'kafka', 'observe', 'processes', 'containers'],
    'new-service': ['base', 'application', 'containers', 'generate'],
    release: ['base', 'application', 'kafka', 'containers', '../templates/release-image'],
  },
  'packages/cli/src': {
    upgrade: [],
    commands: ['upgrade', 'command-line.ts', 'near-kafka.ts', 'stack-options.ts'],
  },
  'packages/event-monitor/page': {
    lib: ['../src/api'],
    data: ['../src/api', 'lib'],
    parts: ['../src/api', 'lib', 'data'],
    views: ['../src/api', 'lib', 'data', 'parts'],
  },
  'tools/chaos': {
    clients: [],
    ledger: ['clients'],
    load: ['clients', 'ledger'],
    outside: ['clients', 'ledger', 'load'],
    cluster: ['ledger'],
    faults: ['load', 'cluster'],
    report: ['clients', 'ledger', 'load', 'outside', 'cluster'],
  },
  // The files of templates/release-image/ run in a release image, which does not contain the other folders of packages/stack.
  'packages/stack': { templates: [], src: ['templates'], test: ['templates', 'src'] },
}

/** Words of the domain. `orderflow` and “order” in the sense of sequence are allowed. */
const domainWords = /customer|taxId|payment|order(?:s\b|Id|Created|Cancelled|-service|events)/i

const applicationNames = namesPattern()

const packages = readPackages()
const everyFile = packages.flatMap(({ files }) => files)
const isTest = ({ path }: SourceFile) => /(^|\/)test\/|\.test\.ts$/.test(path)
const isIn = (folder: string, path: string) => path.startsWith(`${folder}/`)
const wrongImports = (files: SourceFile[], isWrong: (imported: string, file: SourceFile) => boolean) =>
  files.flatMap((file) =>
    file.imports.filter((imported) => isWrong(imported, file)).map((imported) => `${file.path} imports ${imported}`),
  )

describe('the structure of the code', () => {
  it('keeps relative imports within their package', () => {
    const leaks = packages.flatMap(({ folder, files }) => wrongImports(files, (imported) => !isIn(folder, imported)))
    expect(leaks).to.deep.equal([])
  })

  it('lets a package import only packages that its package.json declares, and lets its source import only `dependencies`', () => {
    const { devDependencies: forEveryTest } = declaredIn('.')
    function allowed({ name, dependencies, devDependencies }: Package, file: SourceFile): string[] {
      if (isTest(file)) return [name, ...dependencies, ...devDependencies, ...forEveryTest]
      return file.path.includes('/src/') ? dependencies : [...dependencies, ...devDependencies]
    }
    const undeclared = packages.flatMap((each) =>
      each.files.flatMap((file) =>
        packagesOf(file)
          .filter((name) => !allowed(each, file).includes(name))
          .map((name) => `${file.path} imports ${name}`),
      ),
    )
    expect(undeclared).to.deep.equal([])
  })

  it('lets a package declare only what it uses', () => {
    const unused = packages.flatMap(({ folder, files, ...declared }) =>
      [...declared.dependencies, ...declared.devDependencies]
        // Another package lets its users choose whether to install a peer.
        .filter((name) => !packages.some(({ peers }) => peers.includes(name)))
        // A package that contains only types is treated as used if the package that it describes is used.
        .filter((name) => !files.some(({ text }) => text.includes(`'${name.replace(/^@types\//, '')}`)))
        .map((name) => `${folder} declares ${name}`),
    )
    expect(unused).to.deep.equal([])
  })

  it('exports from stack and cli only names that other packages import', () => {
    const unused = packages
      .filter(({ folder }) => ['packages/stack', 'packages/cli'].includes(folder))
      .flatMap(({ folder, name, files }) => {
        const others = everyFile.filter(({ path }) => !isIn(folder, path))
        return Object.entries(doorsOf(folder)).flatMap(([door, file]) => {
          const specifier = join(name, door)
          const imported = new Set(others.flatMap(({ text }) => namesIn(text, specifier)))
          const exported = files.filter(({ path }) => path === join(folder, file)).flatMap(({ text }) => namesIn(text))
          return exported.filter((each) => !imported.has(each)).map((each) => `${each} of ${specifier}`)
        })
      })
    expect(unused).to.deep.equal([])
  })

  it('lets only services, tests and tools import the contract', () => {
    const importing = packages
      .filter(({ folder }) => isIn('packages', folder))
      .flatMap(({ folder, files, ...declared }) => [
        ...[...declared.dependencies, ...declared.devDependencies]
          .filter((name) => name === '@orderflow/envelope-schema')
          .map((name) => `${folder} declares ${name}`),
        ...files
          .filter((file) => packagesOf(file).includes('@orderflow/envelope-schema') || resolvesContract(file))
          .map(({ path }) => `${path} imports it`),
      ])
    expect(importing).to.deep.equal([])
  })

  it('contains no circular dependencies between packages', () => {
    const needs = packages.map(({ name, ...declared }): [string, string[]] => [
      name,
      [...declared.dependencies, ...declared.devDependencies],
    ])
    expect(circlesIn(new Map(needs))).to.deep.equal([])
  })

  it('contains no circular imports between files, even if the files import only types', () => {
    expect(circlesIn(new Map(everyFile.map(({ path, imports }) => [path, imports])))).to.deep.equal([])
  })

  for (const [base, uses] of Object.entries(rooms)) {
    it(`lets the folders of ${base} import each other in one direction only`, () => {
      const inRooms = everyFile.filter(({ path }) => isIn(base, path) && path.slice(base.length + 1).includes('/'))
      const against = wrongImports(inRooms, (imported, { path }) => {
        const [room = ''] = path.slice(base.length + 1).split('/')
        return ![room, ...(uses[room] ?? [])]
          .map((known) => join(base, known))
          .some((known) => imported === known || isIn(known, imported))
      })
      expect(against).to.deep.equal([])
    })
  }

  it('lets the domain of a service import only itself and the contract', () => {
    const domains = everyFile.filter(({ path }) => /^([^/]+-service|packages\/event-[^/]+)\/src\/domain\//.test(path))
    const others = domains.flatMap(({ path, specifiers }) =>
      specifiers
        .filter((specifier) => !['@orderflow/envelope', '@orderflow/envelope-schema'].includes(specifier))
        .map((specifier) => `${path} imports ${specifier}`),
    )
    const strangers = wrongImports(domains, (imported, { path }) => !isIn(dirname(path), imported))
    expect([...others, ...strangers]).to.deep.equal([])
  })

  it('imports OpenTelemetry’s SDK in one file, which is loaded only if a collector is set', () => {
    const [sdk, loader] = [
      'packages/service-kit/src/telemetry/otel.ts',
      'packages/service-kit/src/runtime/process/run.ts',
    ]
    const using = everyFile.filter((file) => !isTest(file) && file.text.includes("'@opentelemetry/"))
    expect(using.map(({ path }) => path)).to.deep.equal([sdk])
    const loading = everyFile.filter((file) => !isTest(file) && file.imports.includes(sdk))
    expect(loading.map(({ path }) => path)).to.deep.equal([loader])
    expect(loading[0]?.text).to.match(/ = await import\S+otel\.ts/)
  })

  it('runs the program of an upgrade with modules of Node only, because the new packages are not installed yet', () => {
    const [program, command] = ['main.ts', 'upgrade.ts'].map((name) => `packages/cli/src/upgrade/${name}`)
    const own = everyFile.filter(({ path }) => isIn('packages/cli/src/upgrade', path) && path !== command)
    expect(own.map(({ path }) => path)).to.include(program)
    expect(wrongImports(own, (imported) => !own.some(({ path }) => path === imported))).to.deep.equal([])
    expect(own.flatMap(packagesOf)).to.deep.equal([])
  })

  it('keeps the acceptance suite free of imports from the repository', () => {
    const suite = everyFile.filter(({ path }) => isIn('test/acceptance', path))
    expect(suite).not.to.deep.equal([])
    const own = suite.flatMap(({ path, specifiers }) =>
      specifiers
        .filter((specifier) => specifier.startsWith('@orderflow/'))
        .map((specifier) => `${path} imports ${specifier}`),
    )
    const outside = wrongImports(suite, (imported) => !isIn('test/acceptance', imported))
    expect([...own, ...outside]).to.deep.equal([])
  })

  it('keeps words of the domain out of the kit and the monitor', () => {
    const kit = everyFile.filter(({ path }) =>
      /^packages\/(service-kit\/src\/(?!testing\/)|event-monitor\/(src|page)\/)/.test(path),
    )
    expect(kit).not.to.deep.equal([])
    const spoken = kit.flatMap(({ path, text }) =>
      withoutComments(text)
        .split('\n')
        .flatMap((line, index) => (domainWords.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    )
    expect(spoken).to.deep.equal([])
  })

  it('keeps names of the application’s topics, events, services and fields out of packages, also in comments and pages', () => {
    const generated = new Set(generatedFiles().keys())
    const files = sourceFiles(repository, 'packages', 'packages/envelope/src').filter(
      (path) => !generated.has(path) && !/(^|\/)test\/|\.test\.\w+$|\.gen\.ts$|\/package-lock\.json$/.test(path),
    )
    expect(files).to.have.length.above(300)
    const named = files.flatMap((path) =>
      readFileSync(join(repository, path), 'utf8')
        .split('\n')
        .flatMap((line, index) => (applicationNames.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    )
    expect(named).to.deep.equal([])
  })
})

/** Returns the files that a package exports, by the end of their specifier. */
const doorsOf = (folder: string) =>
  JSON.parse(readFileSync(join(repository, folder, 'package.json'), 'utf8')).exports as Record<string, string>

/** Returns the names in braces that a text imports from a specifier, or exports from any file. */
function namesIn(text: string, specifier?: string): string[] {
  const from =
    specifier === undefined
      ? /export (?:type )?\{([^}]*)\} from/g
      : new RegExp(`\\{([^}]*)\\} from '${specifier}'`, 'g')
  return [...text.matchAll(from)].flatMap(([, names = '']) =>
    names.split(',').flatMap((each) => {
      const [, own = '', shown = own] = /^\s*(?:type )?(\w+)(?: as (\w+))?\s*$/.exec(each) ?? []
      return own === '' ? [] : [specifier === undefined ? shown : own]
    }),
  )
}

/** A file can also load a package by `import.meta.resolve`. */
const resolvesContract = ({ text }: { text: string }) =>
  text.includes("import.meta.resolve('@orderflow/envelope-schema")

/** Removes comments, and keeps their lines as empty lines. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, (comment) => comment.replace(/[^\n]/g, ''))
}

/**
 * Returns a pattern for names of the application. A field whose name is one word, such as Reason, must follow `Payload` or be the key of an
 * object.
 */
function namesPattern(): RegExp {
  const own = services.filter(({ folder }) => !folder.startsWith('packages/'))
  // The service kit defines the topics and events of deadlines and calls.
  const types = eventTypes.filter((type) => type !== 'DeadlinePassed@1' && type !== 'CallAnswered@1')
  const events = types.map((type) => type.slice(0, type.indexOf('@')))
  const fields = [...new Set(types.flatMap(payloadFields))]
  const isOneWord = (field: string) => /^[A-Z][a-z]+$/.test(field)
  const anywhere = [
    ...application.topics.flatMap(({ name, constant }) =>
      ['deadlines', 'calls'].includes(name) ? [] : [name, constant],
    ),
    ...events,
    ...own.flatMap((service) => [service.name, sidecarOf(service)]),
    ...fields.filter((field) => !isOneWord(field)),
  ]
  const words = fields.filter(isOneWord).join('|')
  const asField = `Payload\\??[./](${words})\\b|(?<=[{,(]\\s*|^\\s*)(${words}):(?!:)`
  return new RegExp(`(?<![\\w-])(${anywhere.map((name) => name.replaceAll('.', '\\.')).join('|')})(?![\\w])|${asField}`)
}
