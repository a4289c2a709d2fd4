import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { inline } from './inline.ts'
import { commonSchema, isGuidSchema, payloadSchemas, schemaOf } from './schemas.ts'
import type { EventName, EventType, PayloadOf } from './types.ts'

const guid = '0d4f1d0e-6d0e-4f3c-8a51-5b1f0a8b7c6d'

/** Returns a payload that fits an event type: each field has the first of its schema's `examples`, else a value of its type. */
export function examplePayload<T extends EventType | EventName>(type: T): PayloadOf<T> {
  return exampleOfAll(schemaOf(type).fields) as PayloadOf<T>
}

const exampleOfAll = (fields: Iterable<readonly [string, AnySchemaObject]>) =>
  Object.fromEntries(Array.from(fields, ([field, schema]) => [field, exampleOf(schema)]))

/** Returns the first of the `examples` that the schema of any event has for a field of this name; undefined without one. */
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
  if (format === 'date-time') return '2026-01-01T00:00:00Z'
  if (type === 'number' || type === 'integer') return clamped(10, schema.minimum, schema.maximum)
  if (type === 'boolean') return true
  if (type === 'array') return Array.from({ length: schema.minItems ?? 0 }, () => exampleOf(schema.items ?? {}))
  if (type === 'object') return exampleOfAll(Object.entries<AnySchemaObject>(schema.properties ?? {}))
  return 'text'.padEnd(schema.minLength ?? 0, '-').slice(0, schema.maxLength)
}

const clamped = (value: number, minimum = value, maximum = value) => Math.min(Math.max(value, minimum), maximum)
