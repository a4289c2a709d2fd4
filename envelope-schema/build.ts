import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import standalone from 'ajv/dist/standalone/index.js'
import { envelopeSchemas, eventSchemas } from './src/schemas/schemas.ts'
import { sharedAjv } from './src/validation/ajv.ts'

/*
 * Builds what others install. Node strips no types below node_modules, so it holds JavaScript; and it lies in a folder of its own with
 * a package.json of its own, because npm packs the `exports` as they stand, and those of the workspace are the sources.
 */

const source = fileURLToPath(new URL('.', import.meta.url))
const repository = join(source, '..')

/** Where the built package lies, and the packed one beside it. */
export const distFolder = join(repository, 'dist')

/** Copied as they are. */
const alongside = ['schemas', 'fixtures', 'examples', 'README.md', '../LICENSE']

/** Writes the package into a folder, which it empties first. */
export function buildPackage(folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  emit(join(folder, 'dist'))
  for (const file of globSync(`{${alongside.join(',')}}`, { cwd: source })) {
    cpSync(join(source, file), join(folder, file.replace('../', '')), { recursive: true })
  }
  // Links to the rest of the repository lead nowhere there.
  const readme = readFileSync(join(source, 'README.md'), 'utf8').replaceAll(/\[([^\]]+)\]\(\.\.\/[^)]*\)/g, '$1')
  writeFileSync(join(folder, 'README.md'), readme)
  writeFileSync(join(folder, 'dist/validation/validators.js'), compiledValidators())
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest(), null, 2)}\n`)
}

function emit(folder: string): void {
  const tsc = join(repository, 'node_modules/.bin/tsc')
  execFileSync(process.execPath, [tsc, '-p', join(source, 'tsconfig.build.json'), '--outDir', folder], {
    stdio: 'inherit',
  })
  rmSync(join(folder, 'validation/ajv.d.ts'))
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    const path = join(folder, file)
    // tsc leaves these as they are, and what others compile with may not know what they mean.
    const text = readFileSync(path, 'utf8').replaceAll(/((?:from |import\()'\.[^']*)\.ts'/g, "$1.js'")
    if (file.startsWith('cli/')) rmSync(path)
    else writeFileSync(path, text)
  }
}

/** src/validation/validators.ts with all that Ajv would compile when it is loaded. What it needs of Ajv is CommonJS. */
function compiledValidators(): string {
  const ajv = sharedAjv()
  // src/validation/validators.ts may have been loaded by whoever builds.
  for (const schema of Object.values(envelopeSchemas)) if (!ajv.getSchema(schema.$id as string)) ajv.addSchema(schema)
  const ids = [...Object.values(envelopeSchemas), ...eventSchemas.values()].map(({ $id }) => $id as string)
  const code = standalone.default(ajv, Object.fromEntries(ids.map((id, index) => [`schema_${index}`, id])))
  const payloads = [...eventSchemas.keys()].map((type, index) => `  [${JSON.stringify(type)}, schema_${index + 2}],\n`)
  return [
    "import { createRequire } from 'node:module'",
    "import { formats } from './formats.js'",
    "import { regExp } from './reg-exp.js'",
    'const require = createRequire(import.meta.url)',
    code,
    'export const envelopeValidators = { full: schema_0, received: schema_1 }',
    `export const payloadValidators = new Map([\n${payloads.join('')}])\n`,
  ].join('\n')
}

function manifest(): object {
  const {
    private: _,
    scripts: __,
    devDependencies: ___,
    exports: sources,
    ...own
  } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const built = (path: string) => path.replace('./src/', './dist/').replace(/\.ts$/, '.js')
  const exports = Object.entries<string>(sources).map(([name, path]) => {
    if (!path.endsWith('.ts')) return [name, path]
    return [name, { types: built(path).replace(/\.js$/, '.d.ts'), default: built(path) }]
  })
  // What the sources need, JavaScript does not.
  const engines = { node: '>=20.12' }
  return { ...own, engines, bin: { envelope: './dist/cli/main.js' }, exports: Object.fromEntries(exports) }
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
