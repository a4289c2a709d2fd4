import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { compile } from 'json-schema-to-typescript'
import { inline } from './src/schemas/inline.ts'

type Schema = Parameters<typeof compile>[0]

const schemas = new URL('schemas/', import.meta.url)
export const generatedFile = new URL('src/schemas/types.gen.ts', import.meta.url)

const banner = '// Generated from schemas/ by make generate. Do not edit.\n'

function read(path: string): Schema {
  return JSON.parse(readFileSync(new URL(path, schemas), 'utf8')) as Schema
}

const shared = read('common.json').$defs ?? {}

/**
 * The schema with its references to common.json filled in. Done here because the generator would turn every titled
 * definition into a type of its own, numbered where two schemas use the same one.
 */
function withoutRefs(schema: Schema): Schema {
  const { title: _, not: __, 'x-pii': isPersonal, ...filled } = inline(schema, shared)
  if (isPersonal) filled.description = `${filled.description} Personal data (x-pii).`
  const properties = Object.entries(filled.properties ?? {}).map(([name, field]) => [name, withoutRefs(field)])
  if (properties.length > 0) return { ...filled, properties: Object.fromEntries(properties) }
  return filled.type === 'object' ? { ...filled, additionalProperties: true } : filled
}

function compileType(schema: Schema, name: string): Promise<string> {
  const { $id: _, ...filled } = withoutRefs(schema)
  return compile(filled, name, {
    additionalProperties: false, // undeclared fields pass, but are not typed: `Omit` and narrowing need exact keys
    bannerComment: '',
    format: true,
    style: { semi: false, singleQuote: true, printWidth: 120 },
  })
}

/** An object type instead of an interface, so that a payload can be used where any JSON object is expected. */
async function compilePayload(schema: Schema, name: string): Promise<string> {
  return (await compileType(schema, name)).replace(/^export interface (\w+) \{$/m, 'export type $1 = {')
}

/**
 * The text of src/schemas/types.gen.ts: an interface for each variant of the envelope, a type for each version of a payload, and
 * EventPayloads, which has them all by event type. NewestTypes has the newest version of each name.
 */
export async function generateTypes(): Promise<string> {
  const files = readdirSync(new URL('events/', schemas)).sort()
  const events = files.map((file) => {
    const [name, version] = file.split('.')
    return {
      file,
      event: name as string,
      version: Number(version),
      type: `${name}@${version}`,
      name: `${name}V${version}`,
    }
  })
  const types = await Promise.all([
    compileType(read('envelope.full.json'), 'FullEnvelope'),
    compileType(read('envelope.received.json'), 'ReceivedEnvelope'),
    ...events.map(({ file, name }) => compilePayload(read(`events/${file}`), name)),
  ])
  const payloads = events.map(({ type, name }) => `  '${type}': ${name}\n`).join('')
  const map = `/**\n * The payload of each event that has a schema, by event type.\n */\nexport interface EventPayloads {\n${payloads}}\n`
  // Versions as numbers: the tenth is newer than the second, and sorts before it.
  const inOrder = events.toSorted((one, other) => one.version - other.version)
  const newest = Object.entries(Object.fromEntries(inOrder.map(({ event, type }) => [event, type]))).sort()
  const newestTypes = newest.map(([event, type]) => `  ${event}: '${type}'\n`).join('')
  const names = `/**\n * The newest version of each event.\n */\nexport interface NewestTypes {\n${newestTypes}}\n`
  return [banner, ...types, map, names].join('\n')
}

if (import.meta.main) {
  const text = await generateTypes()
  if (text !== readFileSync(generatedFile, 'utf8')) {
    writeFileSync(generatedFile, text)
    console.log('written: envelope-schema/src/schemas/types.gen.ts')
  }
}
