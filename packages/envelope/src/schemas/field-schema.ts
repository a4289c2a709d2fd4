import { isDeepStrictEqual } from 'node:util'
import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { commonSchema, fieldOf, inline, isGuidSchema, knownVersions, payloadSchemas, schemaOf } from './schemas.ts'
import type { EventName, EventType, PayloadOf } from './types.ts'

/** Keywords of OpenAPI 3.0, and our extension `x-pii`. */
const keywords = [
  ...['type', 'format', 'minLength', 'maxLength', 'minimum', 'maximum', 'enum', 'pattern', 'description'],
  'x-pii',
]

/**
 * Returns a payload field's schema for an OpenAPI 3.0 document, without references. A GUID is `format: uuid`, and a personal field has
 * `x-pii: true`.
 * @throws {Error} if the type's schema does not name the field
 */
export function fieldSchema(type: EventType | EventName, field: string): Record<string, unknown> {
  const schema = fieldOf(type, field)
  const format = isGuidSchema(schema) ? 'uuid' : schema.format
  const described = format ? { ...schema, format, pattern: undefined } : schema // the format replaces the pattern
  const found = keywords.filter((keyword) => described[keyword] !== undefined)
  return Object.fromEntries(found.map((keyword) => [keyword, described[keyword]]))
}

/** Every event type that has a schema. The casts are needed only in this package, where EventType is empty. */
export const eventTypes = [...payloadSchemas.keys()] as unknown as readonly EventType[]

export const eventNames = [...knownVersions.keys()] as unknown as readonly EventName[]

export function payloadFields(type: EventType | EventName): readonly string[] {
  return [...schemaOf(type).fields.keys()]
}

export function isRequiredField(type: EventType | EventName, field: string): boolean {
  return schemaOf(type).required.has(field)
}

/** Returns true if both payloads have equal values in all fields that the schema names. */
export function isSamePayload<T extends EventType | EventName>(
  type: T,
  one: PayloadOf<T>,
  other: PayloadOf<T>,
): boolean {
  const fields = payloadFields(type) as (keyof PayloadOf<T>)[]
  // 0 and -0 are equal here, as in JSON.
  return fields.every((field) => one[field] === other[field] || isDeepStrictEqual(one[field], other[field]))
}

const guid = '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d'

/** Returns a valid payload of an event type, from the `examples` in the schema. A field without an example gets a value of its type. */
export function examplePayload<T extends EventType | EventName>(type: T): PayloadOf<T> {
  return exampleOfAll(schemaOf(type).fields) as PayloadOf<T>
}

const exampleOfAll = (fields: Iterable<readonly [string, AnySchemaObject]>) =>
  Object.fromEntries(Array.from(fields, ([field, schema]) => [field, exampleOf(schema)]))

/** Returns the first example for a field of this name in the schemas of all events, or undefined. */
export function exampleOfField(field: string): unknown {
  const schemas = [...payloadSchemas.values()].flatMap(({ fields }) => fields.get(field) ?? [])
  return schemas.flatMap(({ examples = [] }) => examples as unknown[])[0]
}

function exampleOf(given: AnySchemaObject): unknown {
  const schema = inline(given, commonSchema.$defs)
  const { type, examples, enum: words, const: only, format } = schema
  if (Array.isArray(examples) && examples.length > 0) return examples[0]
  if (only !== undefined) return only
  if (Array.isArray(words)) return words[0]
  if (isGuidSchema(schema)) return guid
  if (format === 'date') return '2026-01-01'
  if (format === 'date-time') return '2026-01-01T00:00:00Z'
  if (type === 'number' || type === 'integer') return clamped(10, schema.minimum, schema.maximum)
  if (type === 'boolean') return true
  if (type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => exampleOf(schema.items ?? {}))
  if (type === 'object') return exampleOfAll(Object.entries<AnySchemaObject>(schema.properties ?? {}))
  return 'text'.padEnd(schema.minLength ?? 0, '-').slice(0, schema.maxLength)
}

const clamped = (value: number, minimum = value, maximum = value) => Math.min(Math.max(value, minimum), maximum)

/** An object whose fields have API names: `GivenName` becomes `givenName`. */
export type CamelCase<T> = { [K in keyof T as Uncapitalize<K & string>]: T[K] }

export type PascalCase<T> = { [K in keyof T as Capitalize<K & string>]: T[K] }

/** Renames fields such as `GivenName` to `givenName`, but not in nested objects. */
export const camelCase = <T extends object>(object: T): CamelCase<T> =>
  renamed(object, camelCaseName) as unknown as CamelCase<T>

/** Renames fields such as `givenName` to `GivenName`, but not in nested objects. */
export const pascalCase = <T extends object>(object: T): PascalCase<T> =>
  renamed(object, pascalCaseName) as unknown as PascalCase<T>

export const camelCaseName = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1)
const pascalCaseName = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)

const renamed = (object: object, rename: (name: string) => string) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [rename(name), value]))
