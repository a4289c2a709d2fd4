import { isDeepStrictEqual } from 'node:util'
import { fieldOf, isGuidSchema, payloadSchemas, schemaOf } from './schemas.ts'
import type { EventName, EventType, PayloadOf } from './types.ts'

/** What these schemas use of the keywords that OpenAPI 3.0 shares with JSON Schema, and an extension of ours. */
const keywords = [
  ...['type', 'format', 'minLength', 'maxLength', 'minimum', 'maximum', 'enum', 'pattern', 'description'],
  'x-pii',
]

/**
 * A payload field's schema for an OpenAPI 3.0 document, without references: a GUID is `format: uuid`, a date is
 * `format: date-time`. One that is personal has `x-pii: true`. It describes the field; what is accepted is for `fieldValidator` to say.
 * @throws {Error} when the type's schema does not name the field
 */
export function fieldSchema(type: EventType | EventName, field: string): Record<string, unknown> {
  const schema = fieldOf(type, field)
  const format = isGuidSchema(schema) ? 'uuid' : schema.format
  const described = format ? { ...schema, format, pattern: undefined } : schema // the format says what the pattern spells out
  const found = keywords.filter((keyword) => described[keyword] !== undefined)
  return Object.fromEntries(found.map((keyword) => [keyword, described[keyword]]))
}

/** Every event type that has a schema. The cast is for this package alone: without a contract, there is no EventType. */
export const eventTypes = [...payloadSchemas.keys()] as unknown as readonly EventType[]

/** The fields that the schema of a payload names, in its order. */
export function payloadFields(type: EventType | EventName): readonly string[] {
  return [...schemaOf(type).fields.keys()]
}

/** Returns whether every Payload of the type has the field. */
export function isRequiredField(type: EventType | EventName, field: string): boolean {
  return schemaOf(type).required.has(field)
}

/** Returns whether two Payloads have the same values in all fields that their schema names. */
export function isSamePayload<T extends EventType | EventName>(
  type: T,
  one: PayloadOf<T>,
  other: PayloadOf<T>,
): boolean {
  const fields = payloadFields(type) as (keyof PayloadOf<T>)[]
  // 0 and -0 are equal here, and in JSON.
  return fields.every((field) => one[field] === other[field] || isDeepStrictEqual(one[field], other[field]))
}
