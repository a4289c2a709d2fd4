import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { buildPage } from '@orderflow/event-monitor/page'
import { repository, runTool } from '@orderflow/stack/base'

/** The fields of a package.json that the build reads or writes. */
interface Manifest {
  name: string
  version: string
  exports: Record<string, string>
  dependencies?: Record<string, string>
  imports?: Record<string, string>
  bin?: Record<string, string>
  [field: string]: unknown
}

export const distFolder = join(repository, 'dist/packages')

const folderOf = (name: string) => join(distFolder, name)

/** Returns the names of the folders in `packages/`. */
export const packageNames = (): string[] =>
  globSync('packages/*/package.json', { cwd: repository })
    .map((file) => dirname(file).slice('packages/'.length))
    .sort()

/**
 * Builds all packages as JavaScript with declarations, because Node does not strip types below node_modules. Each folder of `dist/packages` then has
 * the content of a package.
 * @param version the version of the packages, if it differs from the version in the sources
 */
export async function buildPackages(version?: string): Promise<void> {
  rmSync(distFolder, { recursive: true, force: true })
  mkdirSync(distFolder, { recursive: true })
  await runTool('node_modules/.bin/tsc', ['-p', 'tools/packages/tsconfig.json', '--outDir', distFolder], {
    cwd: repository,
  })
  // The contract of the engine's tests, which gives the events of the engine their types.
  rmSync(join(folderOf('envelope'), 'test'), { recursive: true })
  for (const file of globSync('**/*.d.ts', { cwd: distFolder })) writeModule(file.slice(0, -'.d.ts'.length))
  for (const name of packageNames()) await completePackage(name, version)
}

/**
 * Writes a module of `packages/` as JavaScript with its source map. Node replaces types by spaces, so each expression keeps its line and column.
 * Therefore the map only needs to name the TypeScript file. Images contain no maps, but their stack traces have the same lines.
 * @param path the path in `packages/`, without its extension
 */
function writeModule(path: string): void {
  const code = withoutTypeScriptImports(
    stripTypeScriptTypes(readFileSync(join(repository, 'packages', `${path}.ts`), 'utf8')),
  )
  const file = join(distFolder, `${path}.js`)
  const map = `${basename(file)}.map`
  const lines = code.split('\n').map((_, index) => (index === 0 ? 'AAAA' : 'AACA'))
  const content = { version: 3, sources: [basename(`${path}.ts`)], names: [], mappings: lines.join(';') }
  writeFileSync(file, `${code}//# sourceMappingURL=${map}\n`)
  writeFileSync(join(dirname(file), map), JSON.stringify(content))
}

/** Adds files that are not compiled, and package.json. */
async function completePackage(name: string, version: string | undefined): Promise<void> {
  const source = join(repository, 'packages', name)
  const folder = folderOf(name)
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as Manifest
  for (const file of await copiedFiles(name, manifest)) cpSync(join(source, file), join(folder, file))
  cpSync(join(repository, 'LICENSE'), join(folder, 'LICENSE'))
  // An upgrade reads the versions of programs from this package, before the others are installed (packages/cli/src/upgrade/main.ts).
  if (name === 'cli') cpSync(join(repository, 'packages/stack/versions.json'), join(folder, 'versions.json'))
  // Messages of the commands and generated files name these guides and decisions.
  const guides = name === 'cli' ? globSync('docs/{,adr/}*.md', { cwd: repository }) : []
  for (const file of guides) cpSync(join(repository, file), join(folder, file))
  for (const file of ['README.md', ...guides]) {
    const path = join(folder, file)
    writeFileSync(path, withoutOuterLinks(readFileSync(path, 'utf8')))
  }
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    if (isTemplate(file)) continue
    const path = join(folder, file)
    writeFileSync(path, withoutTypeScriptImports(readFileSync(path, 'utf8')))
  }
  const published = { ...publishedManifest(manifest, version), ...repositoryField(name) }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  if (globSync('page/build.ts', { cwd: source }).length > 0) await buildPage(join(folder, 'dist'))
}

/** Returns the files of a package that Git tracks, except TypeScript, tests and files of the build. */
async function copiedFiles(name: string, { bin = {} }: Manifest): Promise<string[]> {
  const folder = join(repository, 'packages', name)
  const tracked = await runTool('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: folder })
  return tracked.split('\n').filter((file) => {
    if (
      file === '' ||
      Object.values(bin).includes(`./${file}`) ||
      /^(test|page)\/|^(package|tsconfig.*|appsettings)\.json$/.test(file)
    )
      return false
    return isTemplate(file) || !/\.tsx?$/.test(file)
  })
}

/** Returns true for a file that a package copies as it is: into a new service, or into an image. */
export const isTemplate = (file: string): boolean => /(^|\/)templates\/(new-service|images)\//.test(file)

/** Replaces imports of `.ts` by those of the built `.js`. Otherwise Node finds no file, and other compilers may reject declarations. */
const withoutTypeScriptImports = (text: string) =>
  text.replaceAll(/((?:from |import |import\()'\.[^']*)\.ts'/g, "$1.js'")

/** Returns package.json with the paths of the built files. Leaves out entry points that only the tests of this repository use. */
function publishedManifest(manifest: Manifest, version = manifest.version): object {
  const { private: _, devDependencies: __, exports, imports, bin, dependencies = {}, ...rest } = manifest
  const entries = Object.entries(exports).filter(([, file]) => !/^\.\/(test|page)\//.test(file))
  const built = (file: string) => file.replace(/\.ts$/, '.js')
  return {
    ...rest,
    version,
    dependencies: Object.fromEntries(
      Object.entries(dependencies).map(([name, spec]) => [name, name.startsWith('@orderflow/') ? version : spec]),
    ),
    engines: { node: '>=24.6' },
    ...(bin && { bin: Object.fromEntries(Object.keys(bin).map((name) => [name, './src/cli/main.js'])) }),
    ...(imports && { imports: Object.fromEntries(Object.entries(imports).map(([name, file]) => [name, built(file)])) }),
    exports: Object.fromEntries(
      entries.map(([name, file]) => [name, { types: file.replace(/\.ts$/, '.d.ts'), default: built(file) }]),
    ),
  }
}

/** Replaces links to files outside of the package by their text. A package has only the guides of `docs/`. */
const withoutOuterLinks = (text: string) => text.replaceAll(/!?\[([^\]]+)\]\((?:\.\.|examples|images)\/[^)]*\)/g, '$1')

/** In a workflow, returns the repository. npm compares it with the repository in the provenance. */
function repositoryField(name: string): object {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env
  if (!GITHUB_REPOSITORY) return {}
  const url = `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git`
  return { repository: { type: 'git', url, directory: `packages/${name}` } }
}

/** Packs all packages. @returns the archive of each package */
export async function packPackages(): Promise<Map<string, string>> {
  const names = packageNames()
  const pack = ['pack', '--silent', '--ignore-scripts']
  const packed = await runTool('npm', [...pack, ...names.map(folderOf)], { cwd: distFolder })
  const archives = packed.trim().split('\n')
  return new Map(names.map((name, index) => [name, join(distFolder, archives[index] ?? '')]))
}
