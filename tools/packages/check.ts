import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, relative } from 'node:path'
import { repository } from '@orderflow/stack/base'
import { isTemplate } from './build.ts'
import { dependenciesOf, type InstalledPackage } from './consumer.ts'

/** Kinds of files that the packages contain: code with declarations, documents, and files for containers, pages and tools. */
const kinds =
  /\.d\.ts$|\.(br|css|html|js|json|map|md|mjs|mk|properties|py|sh|svg|template|tpl|txt|xml|ya?ml)$|(^|\/)[A-Za-z]+$/
const isTest = (file: string) => /(^|\/)test\/|\.test\./.test(file)

/** Returns a line for each problem of a package. @param used the declarations that the entry points of all packages load */
export function packageProblems(each: InstalledPackage, used: string[]): string[] {
  const files = globSync('**/*', { cwd: each.folder, exclude: ['node_modules'], withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(each.folder, join(entry.parentPath, entry.name)))
  const declarations = used.map((file) => relative(each.folder, file)).filter((file) => files.includes(file))
  const problems = [
    ...(files.includes('LICENSE') ? [] : ['LICENSE is missing']),
    ...files.flatMap((file) => fileProblems(each, file)),
    ...missingTargets(each).map((target) => `package.json names ${target}, which is missing`),
    ...undeclaredPackages(each, files, declarations),
  ]
  return problems.map((problem) => `@orderflow/${each.name}: ${problem}`)
}

function fileProblems({ folder }: InstalledPackage, file: string): string[] {
  const text = readFileSync(join(folder, file), 'utf8')
  const paths = [repository, homedir()].filter((path) => text.includes(`${path}/`))
  const problems = paths.map((path) => `${file} contains the path ${path}`)
  if (isTemplate(file)) return problems
  return [
    ...problems,
    ...(file.endsWith('.md') && text.includes('](../') ? [`${file} links to a file outside of the package`] : []),
    ...(isTest(file) ? [`${file} is a test`] : []),
    ...(kinds.test(file) ? [] : [`${file} is of an unknown kind: add it to tools/packages/check.ts, or leave it out`]),
  ]
}

/** Returns a line for each package that is missing in \`dependencies\`: one that modules import, or one with types that declarations need. */
function undeclaredPackages({ folder, manifest }: InstalledPackage, files: string[], declarations: string[]): string[] {
  const modules = files.filter((file) => /\.m?js$/.test(file) && !isTemplate(file))
  const needs = [
    ...modules.flatMap((file) => importsOf(folder, file).map((name) => ({ file, name }))),
    ...declarations.flatMap((file) => typesOf(folder, file).map((name) => ({ file, name }))),
  ]
  const declared = [manifest.name, ...dependenciesOf(manifest)]
  const missing = new Map(needs.filter(({ name }) => !declared.includes(name)).map(({ file, name }) => [name, file]))
  return [...missing].map(([name, file]) => `${file} needs ${name}: add it to \`dependencies\``)
}

function importsOf(folder: string, file: string): string[] {
  const statements = /^(?:import|export)\s(?:[^'"`;=()]*\sfrom\s)?'([^'.#][^']*)'|\bimport\('([^'.#][^']*)'\)/gm
  const specifiers = [...readFileSync(join(folder, file), 'utf8').matchAll(statements)]
  return specifiers
    .map(([, statement, call]) => /^(@[^/]+\/)?[^/]+/.exec(statement ?? call ?? '')?.[0] ?? '')
    .filter((name) => !name.startsWith('node:'))
}

function typesOf(folder: string, file: string): string[] {
  const names = importsOf(folder, file)
  const types = names.map((name) => `@types/${name}`)
  const usesNode = /'node:|\b(Buffer|NodeJS)\b/.test(readFileSync(join(folder, file), 'utf8'))
  return [
    ...names,
    ...types.filter((name) => existsSync(join(repository, 'node_modules', name))),
    ...(usesNode ? ['@types/node'] : []),
  ]
}

function missingTargets({ folder, manifest }: InstalledPackage): string[] {
  const { exports, imports = {}, bin = {} } = manifest
  const targets = [
    ...Object.values(exports).flatMap(Object.values<string>),
    ...Object.values(imports),
    ...Object.values(bin),
  ]
  return targets.filter((target) => !existsSync(join(folder, target)))
}

/** The largest sizes of the archives, in KiB. They are a quarter above the sizes of the day on which they were set. */
const limits: Record<string, number> = {
  cli: 235,
  stack: 458,
  envelope: 94,
  'event-gateway': 14,
  'event-monitor': 594,
  'kafka-log': 29,
  'service-kit': 380,
  'test-kit': 61,
}

export const sizeOf = (archive: string): number => Math.ceil(statSync(archive).size / 1024)

export function sizeProblems(archives: Map<string, string>): string[] {
  return [...archives].flatMap(([name, archive]) => {
    const [size, limit = 0] = [sizeOf(archive), limits[name]]
    if (size <= limit) return []
    return [`@orderflow/${name}: the archive has ${size} KiB, but its limit in tools/packages/check.ts is ${limit} KiB`]
  })
}

/**
 * Errors in the types of two dependencies. Those of playwright-core need the types of a browser. Those of @platformatic/kafka need @types/debug, which
 * is not among its dependencies.
 */
const excepted = /node_modules\/(playwright-core\/types|@platformatic\/kafka\/dist)\//

/** Compiles a program that imports every entry point, with the strictest options that a consumer may have. */
export async function compileConsumer(
  folder: string,
  packages: InstalledPackage[],
): Promise<{ files: string[]; errors: string[] }> {
  const entries = packages.flatMap(({ manifest }) =>
    Object.keys(manifest.exports).map((entry) => join(manifest.name, entry)),
  )
  const lines = entries.map((entry, index) => `export * as entry${index} from '${entry}'\n`)
  writeFileSync(join(folder, 'index.ts'), lines.join(''))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    module: 'nodenext',
    target: 'es2024',
    lib: ['es2024'],
    types: ['node'],
    skipLibCheck: false,
    noEmit: true,
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['index.ts'] }))
  const tsc = join(repository, 'node_modules/.bin/tsc')
  const { stdout } = spawnSync(tsc, ['--listFiles', '--pretty', 'false'], { cwd: folder, encoding: 'utf8' })
  const printed = stdout.trim().split('\n')
  return {
    files: printed.filter((line) => line.startsWith('/')),
    errors: printed.filter((line) => /: error TS/.test(line) && !excepted.test(line)),
  }
}
