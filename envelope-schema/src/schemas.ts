import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'
import { versionsByName } from './event-type.ts'
import { inline } from './inline.ts'

const folder = new URL('../schemas/', import.meta.url)

/** A file of schemas/ by its path. */
export function readSchema(path: string): AnySchemaObject {
  return JSON.parse(readFileSync(new URL(path, folder), 'utf8')) as AnySchemaObject
}

/**
 * `allErrors` lists every problem at once. It stays cheap on hostile input, since the schemas have a fixed number of
 * fields, loop over nothing, and hold only anchored patterns that cannot backtrack. `verbose` gives hints the value.
 */
const ajv = new Ajv2020({ strict: true, allErrors: true, verbose: true, ownProperties: true })
ajv.addFormat('date-time', fullFormats['date-time'])
// Says what a field is, and refuses nothing: see personal.ts.
ajv.addKeyword({ keyword: 'x-pii', schemaType: 'boolean' })
const common = readSchema('common.json')
ajv.addSchema(common)

/** Rules of common.json by name: the very objects that Ajv's errors point to as their `parentSchema`. */
export const sharedRules = common.$defs as Record<'guid' | 'nonZeroGuid' | 'dateTime' | 'notBlank', AnySchemaObject>

const received = readSchema('envelope.received.json')

/** Validators of the envelope alone, compiled once. */
export const envelopeValidators = {
  full: ajv.compile(readSchema('envelope.full.json')),
  received: ajv.compile(received),
} as const

/** The schema of each field of the envelope; see `fieldsOf`. */
export const envelopeFields = fieldsOf(received)

/** Which of the two envelope schemas a document is held against. */
export type Variant = keyof typeof envelopeValidators
export const variants = Object.keys(envelopeValidators) as Variant[]

export interface PayloadSchema {
  validate: ValidateFunction
  /** See `fieldsOf`. */
  fields: ReadonlyMap<string, AnySchemaObject>
  /** The fields that hold a GUID, which receivers lower-case. */
  guidFields: readonly string[]
}

/** By event type, from the files `events/<Name>.<Version>.json`. */
export const payloadSchemas: ReadonlyMap<string, PayloadSchema> = readPayloadSchemas()

/** The versions that have a schema, by event name. */
export const knownVersions: ReadonlyMap<string, readonly number[]> = versionsByName(payloadSchemas.keys())

function readPayloadSchemas(): Map<string, PayloadSchema> {
  const byType = new Map<string, PayloadSchema>()
  for (const file of readdirSync(new URL('events/', folder)).sort()) {
    const [name, version] = file.split('.')
    const schema = readSchema(`events/${file}`)
    const fields = fieldsOf(schema)
    byType.set(`${name}@${version}`, {
      validate: ajv.compile(schema),
      fields,
      guidFields: [...fields].filter(([, own]) => isGuid(own)).map(([field]) => field),
    })
  }
  return byType
}

/** The schema of each field that an object's schema names, in its order, with all references filled in. */
export function fieldsOf({ properties = {} }: AnySchemaObject): ReadonlyMap<string, AnySchemaObject> {
  const fields = Object.entries(properties as Record<string, AnySchemaObject>)
  return new Map(fields.map(([field, own]) => [field, inline(own, common.$defs)]))
}

/** Whether a schema is the one of a GUID, itself or by reference. */
export function isGuid(schema: AnySchemaObject): boolean {
  return schema.pattern === sharedRules.guid.pattern
}

/** @throws {Error} when there is none */
export function schemaOf(type: string): PayloadSchema {
  const schema = payloadSchemas.get(type)
  if (!schema) throw new Error(`there is no schema of ${type}`)
  return schema
}

/** @throws {Error} when the type's schema does not name the field */
export function fieldOf(type: string, field: string): AnySchemaObject {
  const schema = schemaOf(type).fields.get(field)
  if (!schema) throw new Error(`the schema of ${type} names no field ${field}`)
  return schema
}

/** A validator of an object whose fields are each defined as a payload's field of an event type. */
export function compileFields(fields: Record<string, readonly [type: string, field: string]>): ValidateFunction {
  const properties = Object.entries(fields).map(([name, [type, field]]) => {
    const { href } = new URL(`events/${type.replace('@', '.')}.json#/properties/${field}`, common.$id)
    return [name, { $ref: href }]
  })
  return ajv.compile({ type: 'object', required: Object.keys(fields), properties: Object.fromEntries(properties) })
}
