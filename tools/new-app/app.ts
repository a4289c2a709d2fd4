import { createHash, randomUUID } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  globSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { npmInstall } from '@orderflow/cli'
import { packageNames } from '@orderflow/packages'
import { CliError, repository, runTool } from '@orderflow/stack/base'
import { isPortFree } from '@orderflow/stack/internals'
import { createRepository } from './repository.ts'

/** The origin of the packages: an npm registry, or archives by the packages' names without a scope. The application keeps archives in `vendor/`. */
export type PackageSource = { archives: ReadonlyMap<string, string> } | { registry: string; version: string }

export interface NewApp {
  /** The folder of the application, which must be missing or empty. Its last part is the name of the application. */
  folder: string
  /** True to leave out the services and events of the example. */
  isEmpty: boolean
  source: PackageSource
  /** Aborts on Ctrl-C. */
  signal: AbortSignal
  onProgress: (line: string) => void
}

const template = join(import.meta.dirname, 'template')

/** Files of this repository that every application gets. */
const commonFiles = [
  'components/{configuration,secretstore}.yaml',
  'components/{mongodb,postgresql,sqlite}/statestore.yaml',
  'envelope-schema/index.ts',
  'envelope-schema/package.json',
  '.editorconfig',
  '.env.example',
  '.node-version',
  '.npmrc',
]

/** Files of the example. An empty application does not get them. */
export const exampleFiles = [
  '{order,payment}-service/{package,appsettings,test/reads}.json',
  '{order,payment}-service/src/**/*.ts',
  '{order,payment}-service/test/{subject,payments,scenarios.unit.test,order.unit.test,payment.unit.test}.ts',
  'envelope-schema/schemas/events/*.json',
]

/** The names also become names of containers, images and npm packages. */
const nameForm = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/
const longestName = 30

/**
 * Returns the name of the application in a folder.
 * @throws {CliError} `usage` for an unsuitable name, or a folder with files
 */
export function requireFolder(folder: string): string {
  const name = requireName(folder)
  const entry = lstatSync(folder, { throwIfNoEntry: false })
  if (entry && !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new CliError('usage', `${folder} is not a folder`, { nextStep: 'choose a folder that is missing or empty' })
  }
  if (entry && readdirSync(folder).length > 0) {
    throw new CliError('usage', `${folder} is not empty`, { nextStep: 'choose a folder that is missing or empty' })
  }
  return name
}

/**
 * Creates the repository of an application, installs its packages and commits everything. After a failure, removes all its files.
 * @throws {CliError} `usage` for an unsuitable name, or a folder with files
 */
export async function createApp({ folder, isEmpty, source, signal, onProgress }: NewApp): Promise<void> {
  const name = requireFolder(folder)
  const offset = await freeOffset(folder)
  const created = mkdirSync(folder, { recursive: true })
  try {
    onProgress(`${name}: writing its files`)
    for (const [path, text] of filesOf(name, offset, isEmpty, source)) write(join(folder, path), text)
    chmodSync(join(folder, 'orderflow'), 0o755)
    mkdirSync(join(folder, 'envelope-schema/schemas/events'), { recursive: true })
    for (const archive of archivesOf(source).values()) cpSync(archive, join(folder, 'vendor', basename(archive)))
    await complete(folder, name, signal, onProgress)
  } catch (cause) {
    if (created !== undefined) rmSync(created, { recursive: true })
    else for (const path of readdirSync(folder)) rmSync(join(folder, path), { recursive: true })
    if (signal.aborted) throw new CliError('interrupted', 'interrupted; the application was not created')
    const nextStep = (cause as CliError).nextStep ?? 'solve the problem, and run make new-app again'
    throw new CliError('provision-failed', `${name} was not created: ${(cause as Error).message}`, { nextStep, cause })
  }
}

async function complete(
  folder: string,
  name: string,
  signal: AbortSignal,
  onProgress: (line: string) => void,
): Promise<void> {
  const orderflow = (...args: string[]) => runTool('./orderflow', args, { cwd: folder, signal })
  onProgress(`${name}: installing npm packages`)
  await npmInstall(folder)
  onProgress(`${name}: generating files`)
  await orderflow('generate')
  await orderflow('node', 'node_modules/.bin/biome', 'check', '--write')
  await createRepository(folder, `Create the application ${name}`)
}

function requireName(folder: string): string {
  const name = basename(folder)
  if (name === 'orderflow') {
    throw new CliError('usage', 'the name orderflow is reserved for the packages', { nextStep: 'choose another name' })
  }
  if (nameForm.test(name) && name.length <= longestName) return name
  throw new CliError('usage', `${name} is not a valid name of an application`, {
    nextStep: `the last part of DIR is the name: lower-case words joined by hyphens, with at most ${longestName} characters`,
  })
}

const archivesOf = (source: PackageSource) => ('archives' in source ? source.archives : new Map<string, string>())

/** Maps the names of the packages to their versions in package.json, for example to `file:vendor/orderflow-cli-0.1.0.tgz`. */
type Packages = ReadonlyMap<string, string>

function packagesOf(source: PackageSource): Packages {
  const all =
    'archives' in source
      ? [...source.archives].map(([own, archive]) => [own, `file:vendor/${basename(archive)}`] as const)
      : packageNames().map((own) => [own, source.version] as const)
  return new Map(all.map(([own, version]) => [`@orderflow/${own}`, version]))
}

/** The offset 1,000 is left out, because a service would then have port 6000, which fetch refuses. */
const offsets = Array.from({ length: 9 }, (_, index) => (index + 2) * 1_000)

/**
 * Returns the offset of the application's ports, which follows from its name. Returns a later offset if another application in the same parent folder
 * has the first one, or if its port of Kafka is in use.
 */
async function freeOffset(folder: string): Promise<number> {
  const first = createHash('sha256').update(basename(folder)).digest().readUInt32BE() % offsets.length
  const taken = globSync('*/services.json', { cwd: dirname(folder) }).map((path) => {
    const [, offset] = /"portOffset": (\d+)/.exec(readFileSync(join(dirname(folder), path), 'utf8')) ?? []
    return Number(offset)
  })
  const all = [...offsets.slice(first), ...offsets.slice(0, first)].filter((offset) => !taken.includes(offset))
  for (const offset of all) if (await isPortFree(9092 + offset)) return offset
  throw new CliError('port-in-use', 'all ranges of ports are in use', {
    nextStep: 'stop an application that runs, or choose a DIR in another parent folder',
  })
}

function filesOf(name: string, offset: number, isEmpty: boolean, source: PackageSource): Map<string, string> {
  const packages = packagesOf(source)
  const patterns = isEmpty ? commonFiles : [...commonFiles, ...exampleFiles]
  const files = new Map([
    ...globSync(patterns, { cwd: repository }).map((path) => [path, read(path)] as const),
    ...globSync('packages/event-*/appsettings.json', { cwd: repository }).map(
      (path) => [path.slice('packages/'.length), read(path).replaceAll('"../../', '"../')] as const,
    ),
    ...readdirSync(template, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map(
        (file) =>
          [file.slice(template.length + 1).replace('.e2e.ts', '.e2e.test.ts'), readFileSync(file, 'utf8')] as const,
      ),
  ])
  for (const [path, text] of files) files.set(path, adapted(path, text, name, packages))
  files.set('services.json', servicesFile(offset, isEmpty))
  files.set('package.json', rootManifest(name, packages))
  files.set('components/trust/trust.json', trustFile)
  if ('registry' in source) files.set('.npmrc', `${files.get('.npmrc')}@orderflow:registry=${source.registry}\n`)
  return files
}

const read = (path: string) => readFileSync(join(repository, path), 'utf8')

/** Replaces the names, versions and ids of this repository by those of the application. */
function adapted(path: string, text: string, name: string, packages: Packages): string {
  if (path.endsWith('/package.json')) return manifestOf(text, name, packages)
  if (path.endsWith('/appsettings.json')) return text.replace(/("Id": ")[^"]+/, `$1${randomUUID()}`)
  if (path === '.env.example')
    return text.replaceAll(/^(# \w+_PORT=)\d+$/gm, '$1').replace(/(NAME=)orderflow/, `$1${name}`)
  return text
    .replaceAll('@orderflow/envelope-schema', `@${name}/envelope-schema`)
    .replaceAll('APPLICATION', name)
    .replaceAll(/^ *\/\/ biome-ignore lint\/plugin.*\n/gm, '')
}

interface Manifest {
  name: string
  exports?: Record<string, string>
  dependencies: Record<string, string>
}

/** The version of the application and of its workspaces. */
const version = '0.1.0'

/** Returns the package.json of a workspace. Of its exports, keeps only the main file, because only tests of this repository import the others. */
function manifestOf(text: string, name: string, packages: Packages): string {
  const { name: own, exports: { '.': main } = {}, dependencies } = JSON.parse(text) as Manifest
  const renamed = (each: string) => each.replace('@orderflow/', `@${name}/`)
  const specs = Object.keys(dependencies).map((dependency) => {
    const spec = packages.get(dependency)
    return spec ? [dependency, spec.replace('file:', 'file:../')] : [renamed(dependency), version]
  })
  return json({
    ...{ name: renamed(own), version, private: true, type: 'module' },
    ...(main && { exports: main }),
    dependencies: Object.fromEntries(specs),
  })
}

function rootManifest(name: string, packages: Packages): string {
  const manifest = JSON.parse(read('package.json')) as Record<string, Record<string, string>>
  const { engines, scripts = {}, devDependencies } = manifest
  const { '@orderflow/cli': cli, ...others } = Object.fromEntries(packages)
  return json({
    ...{ name, version, private: true, type: 'module', engines },
    workspaces: ['envelope-schema', 'event-*', '*-service'],
    scripts: Object.fromEntries(Object.entries(scripts).map(([each, script]) => [each, adaptedScript(script)])),
    dependencies: { '@orderflow/cli': cli },
    // npm looks up packages that other packages need in its registry, unless the application names their archives.
    devDependencies: { ...others, ...devDependencies },
  })
}

/** Replaces the programs of this repository by those of the installed packages. */
const adaptedScript = (script: string) =>
  script
    .replace('packages/cli/node', './orderflow node')
    .replace(/packages\/(\S+)\.ts/, 'node_modules/@orderflow/$1.js')

/** Returns services.json with the ports of the application. Gateway and monitor are folders of the application. */
function servicesFile(offset: number, isEmpty: boolean): string {
  const text = read('services.json')
    .replace('./packages/', './node_modules/@orderflow/')
    .replaceAll(/^ +"package": .*\n/gm, '')
    .replaceAll(/("(?:http|https|channel)": )(\d+)/g, (_, key: string, port: string) => key + (Number(port) + offset))
    .replace(/^( +)"consumersPerReplica"/m, `$1"portOffset": ${offset},\n$&`)
  if (!isEmpty) return text
  const { services, reactions: _, objective: __, demo: ___, settings: ____, ...common } = JSON.parse(text)
  const own = Object.entries<object>(services).filter(([name]) => name.startsWith('event-'))
  const empty = own.map(([name, service]) => [name, { ...service, produces: {} }])
  return json({ ...common, topics: {}, services: Object.fromEntries(empty) })
}

const trustFile = json({
  $schema: '../../node_modules/@orderflow/service-kit/src/trust/trust.schema.json',
  unlisted: 'accept',
  publishers: {},
})

function json(content: object): string {
  return `${JSON.stringify(content, null, 2)}\n`
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
