import { readFileSync } from 'node:fs'
import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { contractFolder } from './contract-folder.ts'
import { readEventSchemas } from './event-schemas.ts'
import type { ReceivedEnvelope } from './types.ts'

type Typed = Pick<ReceivedEnvelope, 'Name' | 'Version'>
/** Distributes over the members of a union. */
type TypeOf<E extends Typed> = E extends unknown ? `${E['Name']}@${E['Version']}` : never

/** Returns an envelope's event type as `Name@Version`. The type may have no schema. */
export function typeOf<E extends Typed>({ Name, Version }: E): TypeOf<E> {
  return `${Name}@${Version}` as TypeOf<E>
}

/** Returns the Name and Version of an event type. */
export function partsOf(type: string): Pick<ReceivedEnvelope, 'Name' | 'Version'> {
  const [Name = '', version] = type.split('@')
  return { Name, Version: Number(version) }
}

/** Returns the versions in a list of event types, by name, in ascending order. It is a Map, because a Name may be `__proto__`. */
export function versionsByName(types: Iterable<string>): Map<string, number[]> {
  const byName = new Map<string, number[]>()
  for (const { Name, Version } of Array.from(types, partsOf)) {
    byName.set(
      Name,
      [...(byName.get(Name) ?? []), Version].sort((one, other) => one - other),
    )
  }
  return byName
}

/** The envelope's own schemas. The contract has the same files, for validators in other languages. */
const ownFolder = new URL('../../schemas/', import.meta.url)

function read(name: string): AnySchemaObject {
  return JSON.parse(readFileSync(new URL(name, ownFolder), 'utf8')) as AnySchemaObject
}

export const commonSchema = read('common.json')
export const envelopeSchemas = {
  full: read('envelope.full.json'),
  received: read('envelope.received.json'),
} as const

/** The schema of each Payload, by event type, from the contract. */
export const eventSchemas = readEventSchemas(new URL('schemas/events/', contractFolder), commonSchema)

/** Rules of common.json by name. */
export const sharedRules = commonSchema.$defs as Record<
  'guid' | 'nonZeroGuid' | 'date' | 'dateTime' | 'notBlank',
  AnySchemaObject
>

/** The pattern of a GUID, for schemas outside the contract. */
export const guidPattern: string = sharedRules.guid.pattern

/** Matches a text with at least one visible character. For schemas outside the contract; use it with the flag `u`. */
export const notBlankPattern: string = sharedRules.notBlank.pattern

/** The fields that only a full envelope requires. The two schemas have no other difference. */
export const fullFields: readonly string[] = envelopeSchemas.full.required.filter(
  (field: string) => !envelopeSchemas.received.required.includes(field),
)

/** The schema of each field of the envelope; see `fieldsOf`. */
export const envelopeFields = fieldsOf(envelopeSchemas.received)

/** Name of an envelope schema. */
export type Variant = keyof typeof envelopeSchemas
export const variants = Object.keys(envelopeSchemas) as Variant[]

interface PayloadSchema {
  fields: ReadonlyMap<string, AnySchemaObject>
  /** Fields that contain a GUID. Receivers convert them to lower case. */
  guidFields: readonly string[]
  /** The fields that every Payload has. */
  required: ReadonlySet<string>
}

/** The fields of each Payload, by event type. */
export const payloadSchemas: ReadonlyMap<string, PayloadSchema> = new Map(
  Array.from(eventSchemas, ([type, schema]) => {
    const fields = fieldsOf(schema)
    const guidFields = [...fields].filter(([, own]) => isGuidSchema(own)).map(([field]) => field)
    return [type, { fields, guidFields, required: new Set<string>(schema.required) }]
  }),
)

/** The versions that have a schema, by event name. */
export const knownVersions: ReadonlyMap<string, readonly number[]> = versionsByName(payloadSchemas.keys())

/** Returns the newest event type of a name. Returns any other text, such as a type, unchanged. */
export function newestType(typeOrName: string): string {
  const newest = knownVersions.get(typeOrName)?.at(-1)
  return newest === undefined ? typeOrName : `${typeOrName}@${newest}`
}

/** Returns the schemas of the fields of an object's schema, in its order, with all references filled in. */
export function fieldsOf({ properties = {} }: AnySchemaObject): ReadonlyMap<string, AnySchemaObject> {
  const fields = Object.entries(properties as Record<string, AnySchemaObject>)
  return new Map(fields.map(([field, own]) => [field, inline(own, commonSchema.$defs)]))
}

/** Returns true for the schema of a GUID, directly or by reference. */
export function isGuidSchema(schema: AnySchemaObject): boolean {
  return schema.pattern === guidPattern
}

/**
 * Returns the fields of an event type's Payload. A name means its newest version.
 * @throws {Error} for an unknown type
 */
export function schemaOf(type: string): PayloadSchema {
  const schema = payloadSchemas.get(newestType(type))
  if (!schema) throw new Error(`${type} has no schema in envelope-schema/schemas/events`)
  return schema
}

/**
 * Returns the schema of a field of a Payload.
 * @throws {Error} for an unknown type or field
 */
export function fieldOf(type: string, field: string): AnySchemaObject {
  const schema = schemaOf(type).fields.get(field)
  if (!schema) throw new Error(`the schema of ${type} has no field ${field}`)
  return schema
}

/**
 * Returns a field's schema with all references to common.json filled in, also indirect ones. A keyword next to a reference overrides the
 * referenced one.
 * @param shared the `$defs` of common.json
 */
export function inline<S extends object>(schema: S, shared: Record<string, S>): S {
  const { $ref, ...own } = schema as S & { $ref?: string }
  const target = shared[$ref?.split('/').at(-1) ?? '']
  return (target ? { ...inline(target, shared), ...own } : own) as S
}
