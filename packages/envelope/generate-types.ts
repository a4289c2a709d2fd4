import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile } from 'json-schema-to-typescript'
import { contractFolder } from './src/schemas/contract-folder.ts'
import { eventSchemas, inline, knownVersions, newestType } from './src/schemas/schemas.ts'

type Schema = Parameters<typeof compile>[0]

const own = new URL('.', import.meta.url)
const isInstalled = own.pathname.includes('/node_modules/')
const folders = [new URL('schemas/', contractFolder), new URL('schemas/', own)] as const
/** An installed engine is the source of the envelope's schemas. In the engine's repository, the contract is their source. */
const [copies, schemas] = isInstalled ? folders : ([folders[1], folders[0]] as const)

const banner = '// Generated from envelope-schema/schemas/ by make generate. Do not edit.\n'

function read(path: string): Schema {
  return JSON.parse(readFileSync(new URL(path, schemas), 'utf8')) as Schema
}

const shared = read('common.json').$defs ?? {}

/**
 * Fills in the references to common.json. Otherwise the generator would write a type for each definition with a title. If two schemas use the
 * definition, the name of the type would get a number.
 */
function withoutRefs(schema: Schema): Schema {
  const { title: _, not: __, 'x-pii': isPersonal, ...filled } = inline(schema, shared)
  if (isPersonal) filled.description = `${filled.description} Personal data (x-pii).`
  const properties = Object.entries(filled.properties ?? {}).map(([name, field]) => [name, withoutRefs(field)])
  if (filled.items && !Array.isArray(filled.items)) filled.items = withoutRefs(filled.items)
  if (properties.length > 0) return { ...filled, properties: Object.fromEntries(properties) }
  return filled.type === 'object' ? { ...filled, additionalProperties: true } : filled
}

function compileType(schema: Schema, name: string): Promise<string> {
  const { $id: _, ...filled } = withoutRefs(schema)
  return compile(filled, name, {
    additionalProperties: false, // undeclared fields are valid, but have no type, because `Omit` and narrowing need exact keys
    bannerComment: '',
    format: true,
    style: { semi: false, singleQuote: true, printWidth: 120 },
  })
}

/** Returns an object type instead of an interface, so that a payload can be assigned to any JSON object. */
async function compilePayload(schema: Schema, name: string): Promise<string> {
  return (await compileType(schema, name)).replace(/^export interface (\w+) \{$/m, 'export type $1 = {')
}

async function envelopeTypes(): Promise<string> {
  const full = await compileType(read('envelope.full.json'), 'FullEnvelope')
  const received = await compileType(read('envelope.received.json'), 'ReceivedEnvelope')
  return [banner, full, received].join('\n')
}

/** Returns a type for each version of a payload, and adds these types to the engine's interfaces EventPayloads and NewestTypes. */
async function eventTypes(): Promise<string> {
  const nameOf = (type: string) => type.replace('@', 'V')
  const types = await Promise.all(Array.from(eventSchemas, ([type, schema]) => compilePayload(schema, nameOf(type))))
  const payloads = Array.from(eventSchemas.keys(), (type) => `    '${type}': ${nameOf(type)}\n`).join('')
  const newestTypes = [...knownVersions.keys()]
    .sort()
    .map((name) => `    ${name}: '${newestType(name)}'\n`)
    .join('')
  const added = `  interface EventPayloads {\n${payloads}  }\n\n  interface NewestTypes {\n${newestTypes}  }\n`
  return [banner, ...types, `declare module '@orderflow/envelope' {\n${added}}\n`].join('\n')
}

/** Returns the types of the contract's events, and copies of the envelope's schemas. In the engine's repository, also returns the engine's types. */
export async function generatedFiles(): Promise<[file: URL, text: string][]> {
  const copied = ['common.json', 'envelope.full.json', 'envelope.received.json'].map((name): [URL, string] => [
    new URL(name, copies),
    readFileSync(new URL(name, schemas), 'utf8'),
  ])
  const types: [URL, string] = [new URL('types.gen.ts', contractFolder), await eventTypes()]
  if (isInstalled) return [types, ...copied]
  return [types, [new URL('src/schemas/types.gen.ts', own), await envelopeTypes()], ...copied]
}

if (import.meta.main) {
  for (const [file, text] of await generatedFiles()) {
    if (existsSync(file) && text === readFileSync(file, 'utf8')) continue
    mkdirSync(new URL('.', file), { recursive: true })
    writeFileSync(file, text)
    console.log(`written: ${relative(process.cwd(), fileURLToPath(file))}`)
  }
}
