import { readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { eventNames, eventSchemas, inline, newestType } from '@orderflow/envelope'
import { compile } from 'json-schema-to-typescript'
import { isInstalled, programFile, repository } from '../application/paths.ts'
import { services } from '../application/services.ts'

type Schema = Parameters<typeof compile>[0]

const contract = 'envelope-schema'
const engine = relative(repository, dirname(dirname(programFile('@orderflow/envelope'))))
/** An installed engine is the source of the copied schemas. In the engine's repository, the contract is their source. */
const [source, target] = isInstalled ? [engine, contract] : [contract, engine]

/** The events that the service kit defines, if the application uses them. */
const eventsOfKit = [
  ...(services.some(({ deadlines }) => deadlines) ? ['events/DeadlinePassed.1.json'] : []),
  ...(services.some(({ calls }) => calls) ? ['events/CallAnswered.1.json'] : []),
]

const banner = '// Generated from envelope-schema/schemas/ by make generate. Do not edit.\n'

const read = (name: string) => readFileSync(join(repository, source, 'schemas', name), 'utf8')
const parse = (name: string) => JSON.parse(read(name)) as Schema

const shared = parse('common.json').$defs ?? {}

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

/** Returns the types of both variants of the envelope, which differ only in their required fields. */
async function envelopeTypes(): Promise<string> {
  const [received, full] = [parse('envelope.received.json'), parse('envelope.full.json')]
  const required = new Set([received.required].flat())
  const added = [full.required].flat().flatMap((field) => (required.has(field) ? [] : `'${field}'`))
  const type = `ReceivedEnvelope & Required<Pick<ReceivedEnvelope, ${added.join(' | ')}>>`
  const comment = `/**\n * ${full.description}\n */\n`
  return [
    banner,
    await compileType(received, 'ReceivedEnvelope'),
    `${comment}export type FullEnvelope = ${type}\n`,
  ].join('\n')
}

/** Returns a type for each version of a payload, and adds these types to the engine's interfaces EventPayloads and NewestTypes. */
async function eventTypes(): Promise<string> {
  const nameOf = (type: string) => type.replace('@', 'V')
  const types = await Promise.all(Array.from(eventSchemas, ([type, schema]) => compilePayload(schema, nameOf(type))))
  const payloads = Array.from(eventSchemas.keys(), (type) => `    '${type}': ${nameOf(type)}\n`).join('')
  const newestTypes = [...eventNames]
    .sort()
    .map((name) => `    ${name}: '${newestType(name)}'\n`)
    .join('')
  const added = `  interface EventPayloads {\n${payloads}  }\n\n  interface NewestTypes {\n${newestTypes}  }\n`
  return [banner, ...types, `declare module '@orderflow/envelope' {\n${added}}\n`].join('\n')
}

/**
 * Returns, by path, the types of the contract's events, and copies of the schemas of the envelope and of the kit's events. In the engine's repository,
 * also returns the engine's types.
 */
export async function typesAndCopies(): Promise<[path: string, text: string][]> {
  const names = ['common.json', 'envelope.full.json', 'envelope.received.json', ...eventsOfKit]
  return [
    [join(contract, 'types.gen.ts'), await eventTypes()],
    ...(isInstalled ? [] : [[join(engine, 'src/schemas/types.gen.ts'), await envelopeTypes()] as [string, string]]),
    ...names.map((name): [string, string] => [join(target, 'schemas', name), read(name)]),
  ]
}
