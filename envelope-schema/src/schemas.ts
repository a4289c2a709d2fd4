import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js'
import { fullFormats } from 'ajv-formats/dist/formats.js'

const folder = new URL('../schemas/', import.meta.url)

function read(path: string): AnySchemaObject {
  return JSON.parse(readFileSync(new URL(path, folder), 'utf8')) as AnySchemaObject
}

/**
 * `allErrors` lists every problem at once. It stays cheap on hostile input, since the schemas have a fixed number of
 * fields, loop over nothing, and hold only anchored patterns that cannot backtrack. `verbose` gives hints the value.
 */
const ajv = new Ajv2020({ strict: true, allErrors: true, verbose: true, ownProperties: true })
ajv.addFormat('date-time', fullFormats['date-time'])
const common = read('common.json')
ajv.addSchema(common)

/** The rules of common.json by name: the very objects that Ajv's errors point to as their `parentSchema`. */
export const sharedRules = common.$defs as { guid: AnySchemaObject; dateTime: AnySchemaObject }

/** Validators of the envelope alone, compiled once. */
export const envelopeValidators = {
  full: ajv.compile(read('envelope.full.json')),
  received: ajv.compile(read('envelope.received.json')),
} as const

/** Which of the two envelope schemas a document is held against. */
export type Variant = keyof typeof envelopeValidators

export interface PayloadSchema {
  validate: ValidateFunction
  /** The fields that hold a GUID, which receivers lower-case. */
  guidFields: string[]
}

/** Name -> Version -> schema, from the files `events/<Name>.<Version>.json`. Maps, since a Name may be `__proto__`. */
export const payloadSchemas: ReadonlyMap<string, ReadonlyMap<number, PayloadSchema>> = readPayloadSchemas()

function readPayloadSchemas(): Map<string, Map<number, PayloadSchema>> {
  const byName = new Map<string, Map<number, PayloadSchema>>()
  for (const file of readdirSync(new URL('events/', folder)).sort()) {
    const [name = '', version] = file.split('.')
    const schema = read(`events/${file}`)
    const fields = Object.entries(schema.properties as Record<string, AnySchemaObject>)
    const guidFields = fields.filter(([, field]) => field.$ref === '../common.json#/$defs/guid').map(([field]) => field)
    const versions = byName.get(name) ?? new Map<number, PayloadSchema>()
    byName.set(name, versions.set(Number(version), { validate: ajv.compile(schema), guidFields }))
  }
  return byName
}

/** The newest version that an event's payload has a schema for. */
export function newestVersion(event: string): number {
  return Math.max(...(payloadSchemas.get(event)?.keys() ?? []))
}

/** A validator of an object whose fields are each defined as a field of an event's payload, in its newest version. */
export function compileFields(fields: Record<string, readonly [event: string, field: string]>): ValidateFunction {
  const properties = Object.entries(fields).map(([name, [event, field]]) => {
    const { href } = new URL(`events/${event}.${newestVersion(event)}.json#/properties/${field}`, common.$id)
    return [name, { $ref: href }]
  })
  return ajv.compile({ type: 'object', required: Object.keys(fields), properties: Object.fromEntries(properties) })
}
