import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import standalone from 'ajv/dist/standalone/index.js'
import { contractFolder } from './src/schemas/contract-folder.ts'
import { envelopeSchemas, eventSchemas } from './src/schemas/schemas.ts'
import { sharedAjv } from './src/validation/ajv.ts'

/*
 * Builds the package for outside publishers: the application's contract together with this engine. The package contains JavaScript instead of
 * TypeScript, because Node does not strip types below node_modules. This program also writes the package's package.json, with `exports` for
 * JavaScript.
 */

const engine = fileURLToPath(new URL('.', import.meta.url))
const contract = fileURLToPath(contractFolder)
const repository = join(contract, '..')

export const distFolder = join(repository, 'dist')

/** Empties a folder and writes the package into it. */
export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const dist = join(folder, 'dist')
  emit(dist)
  writeFileSync(join(dist, 'validation/validators.js'), compiledValidators())
  const address = "export const contractFolder = new URL('../../', import.meta.url)\n"
  writeFileSync(join(dist, 'schemas/contract-folder.js'), address)
  for (const [name, text] of contractModules()) writeFileSync(join(dist, name), text)
  for (const name of ['schemas', 'bundled', 'fixtures', 'topics.json', 'asyncapi.json', '../LICENSE']) {
    cpSync(join(contract, name), join(folder, basename(name)), { recursive: true })
  }
  writeFileSync(join(folder, 'README.md'), withoutOuterLinks(join(contract, 'README.md')))
  writeFileSync(join(folder, 'ENVELOPE.md'), withoutOuterLinks(join(engine, 'README.md')))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
}

/** Returns a document whose links lead only to files of the package. A link to the engine's README leads to ENVELOPE.md instead. */
function withoutOuterLinks(file: string): string {
  const text = readFileSync(file, 'utf8').replaceAll('../packages/envelope/README.md', 'ENVELOPE.md')
  return text.replaceAll(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, '$1')
}

/** Returns the files of the contract's modules: their source as declarations, and the source without types as JavaScript. */
function contractModules(): [name: string, text: string][] {
  const read = (name: string) =>
    readFileSync(join(contract, name), 'utf8')
      .replaceAll('@orderflow/envelope', './index.js')
      .replaceAll('.gen.ts', '.gen.js')
  const [index, topics] = [read('index.ts'), read('topics.gen.ts')]
  return [
    ['contract.d.ts', index],
    ['contract.js', index.replaceAll(/^export type .*\n/gm, '')],
    ['topics.gen.d.ts', topics],
    ['topics.gen.js', topics],
    ['types.gen.d.ts', read('types.gen.ts')],
  ]
}

function emit(folder: string): void {
  const tsc = join(repository, 'node_modules/.bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', join(engine, 'tsconfig.build.json'), '--outDir', folder], {
    stdio: 'inherit',
  })
  rmSync(join(folder, 'validation/ajv.d.ts'))
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    const path = join(folder, file)
    // tsc keeps `.ts` in the imports of declarations, which other compilers may reject.
    const text = readFileSync(path, 'utf8').replaceAll(/((?:from |import\()'\.[^']*)\.ts'/g, "$1.js'")
    if (file.startsWith('cli/')) rmSync(path)
    else writeFileSync(path, text)
  }
}

/** Returns src/validation/validators.ts with compiled validators. The validators load Ajv's CommonJS modules with `require`. */
function compiledValidators(): string {
  const ajv = sharedAjv()
  // Skips schemas that src/validation/validators.ts has already added.
  for (const schema of Object.values(envelopeSchemas)) if (!ajv.getSchema(schema.$id as string)) ajv.addSchema(schema)
  const ids = [...Object.values(envelopeSchemas), ...eventSchemas.values()].map(({ $id }) => $id as string)
  const code = standalone.default(ajv, Object.fromEntries(ids.map((id, index) => [`schema_${index}`, id])))
  const payloads = [...eventSchemas.keys()].map((type, index) => `  [${JSON.stringify(type)}, schema_${index + 2}],\n`)
  return [
    "import { createRequire } from 'node:module'",
    "import { formats, regExp } from './formats.js'",
    'const require = createRequire(import.meta.url)',
    code,
    'export const envelopeValidators = { full: schema_0, received: schema_1 }',
    `export const payloadValidators = new Map([\n${payloads.join('')}])\n`,
  ].join('\n')
}

/** Returns the contract's package.json, with the engine's dependencies and exports. */
function manifest(): object {
  const read = (folder: string) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const { private: _, scripts: __, exports: files, ...own } = read(contract)
  const { dependencies, peerDependencies, peerDependenciesMeta, exports: sources } = read(engine)
  // Leaves out the command, which is in `bin`.
  const entries = Object.entries<string>(sources).filter(([, path]) => !path.startsWith('./src/cli/'))
  const exports = entries.map(([name, path]) => {
    const built = path.replace('./src/', './dist/').replace(/\.ts$/, '')
    return [name, { types: `${built}.d.ts`, default: `${built}.js` }]
  })
  return {
    ...own,
    // The sources need a newer Node than the built JavaScript.
    engines: { node: '>=20.12' },
    bin: { envelope: './dist/cli/main.js' },
    exports: {
      ...files,
      ...Object.fromEntries(exports),
      '.': { types: './dist/contract.d.ts', default: './dist/contract.js' },
    },
    dependencies,
    peerDependencies,
    peerDependenciesMeta,
  }
}

if (import.meta.main) {
  const folder = join(distFolder, 'envelope-schema')
  buildPackage(folder)
  const packed = execFileSync('npm', ['pack', '--silent', '--ignore-scripts', folder], {
    cwd: distFolder,
    encoding: 'utf8',
  })
  console.log(relative(process.cwd(), join(distFolder, packed.trim())))
}
