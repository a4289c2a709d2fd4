import { readFileSync } from 'node:fs'
import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { contractFolder } from './contract-folder.ts'
import { readEventSchemas } from './event-schemas.ts'
import type { ReceivedEnvelope } from './types.ts'

type Typed = Pick<ReceivedEnvelope, 'Name' | 'Version'>
type TypeOf<E extends Typed> = E extends unknown ? `${E['Name']}@${E['Version']}` : never

/** Returns `Name@Version` of an envelope, even if no schema exists for this type. */
export function typeOf<E extends Typed>({ Name, Version }: E): TypeOf<E> {
  return `${Name}@${Version}` as TypeOf<E>
}

export function partsOf(type: string): Pick<ReceivedEnvelope, 'Name' | 'Version'> {
  const [Name = '', version] = type.split('@')
  return { Name, Version: Number(version) }
}

/** Returns the versions of event types by name, in ascending order. The result is a Map, because a Name may be `__proto__`. */
export function versionsByName(types: Iterable<string>): Map<string, number[]> {
  const byName = new Map<string, number[]>()
  const all = Array.from(types, partsOf).sort((one, other) => one.Version - other.Version)
  for (const { Name, Version } of all) byName.set(Name, [...(byName.get(Name) ?? []), Version])
  return byName
}

/** The folder of the envelope schemas. The contract has copies of them for validators in other languages. */
const ownFolder = new URL('../../schemas/', import.meta.url)

function read(name: string): AnySchemaObject {
  return JSON.parse(readFileSync(new URL(name, ownFolder), 'utf8')) as AnySchemaObject
}

export const commonSchema = read('common.json')
export const envelopeSchemas = {
  full: read('envelope.full.json'),
  received: read('envelope.received.json'),
} as const

export const eventSchemas = readEventSchemas(new URL('schemas/events/', contractFolder), commonSchema)

export const sharedRules = commonSchema.$defs as Record<
  'guid' | 'nonZeroGuid' | 'date' | 'dateTime' | 'notBlank',
  AnySchemaObject
>

export const guidPattern: string = sharedRules.guid.pattern

/** Matches a text with at least one visible character. The pattern needs the flag `u`. */
export const notBlankPattern: string = sharedRules.notBlank.pattern

export const fullFields: readonly string[] = envelopeSchemas.full.required.filter(
  (field: string) => !envelopeSchemas.received.required.includes(field),
)

export const envelopeFields = fieldsOf(envelopeSchemas.received)

export type Variant = keyof typeof envelopeSchemas
export const variants = Object.keys(envelopeSchemas) as Variant[]

interface PayloadSchema {
  fields: ReadonlyMap<string, AnySchemaObject>
  guidFields: readonly string[]
  required: ReadonlySet<string>
}

export const payloadSchemas: ReadonlyMap<string, PayloadSchema> = new Map(
  Array.from(eventSchemas, ([type, schema]) => {
    const fields = fieldsOf(schema)
    const guidFields = [...fields].filter(([, own]) => isGuidSchema(own)).map(([field]) => field)
    return [type, { fields, guidFields, required: new Set<string>(schema.required) }]
  }),
)

export const knownVersions: ReadonlyMap<string, readonly number[]> = versionsByName(payloadSchemas.keys())

/** Returns the newest event type of a name, or any other text unchanged. */
export function newestType(typeOrName: string): string {
  return knownVersions.has(typeOrName) ? typeOf(newestPartsOf(typeOrName)) : typeOrName
}

/** Returns the Name and Version of an event type, or of the newest type of a name. */
export function newestPartsOf(typeOrName: string): ReturnType<typeof partsOf> {
  const newest = knownVersions.get(typeOrName)?.at(-1)
  return newest === undefined ? partsOf(typeOrName) : { Name: typeOrName, Version: newest }
}

/** Returns the schemas of an object's fields, with all references filled in. */
export function fieldsOf({ properties = {} }: AnySchemaObject): ReadonlyMap<string, AnySchemaObject> {
  const fields = Object.entries(properties as Record<string, AnySchemaObject>)
  return new Map(fields.map(([field, own]) => [field, inline(own, commonSchema.$defs)]))
}

export function isGuidSchema(schema: AnySchemaObject): boolean {
  return schema.pattern === guidPattern
}

/** Returns the schema of an event type. A name without a version means its newest version. @throws {Error} for an unknown type */
export function schemaOf(type: string): PayloadSchema {
  const schema = payloadSchemas.get(newestType(type))
  if (!schema) throw new Error(`${type} has no schema in envelope-schema/schemas/events`)
  return schema
}

/** @throws {Error} for an unknown type or field */
export function fieldOf(type: string, field: string): AnySchemaObject {
  const schema = schemaOf(type).fields.get(field)
  if (!schema) throw new Error(`the schema of ${type} has no field ${field}`)
  return schema
}

/**
 * Fills in all references to common.json. A keyword next to a reference overrides the same keyword of the referenced schema.
 * @param shared the `$defs` of common.json
 */
export function inline<S extends object>(schema: S, shared: Record<string, S>): S {
  const { $ref, ...own } = schema as S & { $ref?: string }
  const target = shared[$ref?.split('/').at(-1) ?? '']
  return (target ? { ...inline(target, shared), ...own } : own) as S
}
