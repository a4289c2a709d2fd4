import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { parseGuid } from '../schemas/guid.ts'
import { envelopeFields, fieldsOf, isGuidSchema, payloadSchemas, schemaOf } from '../schemas/schemas.ts'
import type { EventName, EventType } from '../schemas/types.ts'
import { isPlainKey } from '../validation/limits.ts'
import { fold, nearMissIn } from '../validation/near-miss.ts'

/** A field that a schema names, inside of others too. */
interface Field {
  pointer: string
  name: string
  schema: AnySchemaObject
}

function fieldsIn(fields: ReadonlyMap<string, AnySchemaObject>, base = ''): Field[] {
  return [...fields].flatMap(([name, schema]) => {
    const pointer = `${base}/${name}`
    return [{ pointer, name, schema }, ...fieldsIn(fieldsOf(schema), pointer)]
  })
}

const isMarked = ({ schema }: Field): boolean => schema['x-pii'] === true

const ofEnvelope = fieldsIn(envelopeFields)
const ofPayload = (type: string) => fieldsIn(schemaOf(type).fields, '/Payload')
const everyField = [...ofEnvelope, ...Array.from(payloadSchemas.keys(), ofPayload).flat()]

/** What is personal in an event, by the keyword `x-pii` of the schemas: JSON pointers into the document, those of every envelope first. */
export function personalFields(type: EventType | EventName): readonly string[] {
  return [...ofEnvelope, ...ofPayload(type)].filter(isMarked).map(({ pointer }) => pointer)
}

/** The names of all fields that are personal in any event. */
export const personalNames: readonly string[] = [...new Set(everyField.filter(isMarked).map(({ name }) => name))]

const byName = new Map(everyField.map(({ name }) => [name, everyField.filter((other) => other.name === name)]))

/**
 * A test of whether a name means one of `names`, as careless publishers write them: in another case, with other separators, with a
 * typing mistake (near-miss.ts), or as a part of a longer one (`legacyCustomerName`). A name that the contract gives to something else
 * means that.
 */
export function meansOneOf(names: Iterable<string>): (name: string) => boolean {
  const own = new Set(names)
  const folded = Array.from(own, fold)
  const nearest = nearMissIn(own)
  return (name) => {
    if (own.has(name)) return true
    if (byName.has(name)) return false
    const plain = fold(name)
    return folded.some((part) => plain.includes(part)) || nearest(name) !== undefined
  }
}

/** Objects that are open to whatever a publisher adds: `Headers` and `Payload`. */
export const openFields: readonly string[] = [...envelopeFields]
  .filter(([, { type }]) => type === 'object')
  .map(([name]) => name)

/** A longer text is no identifier, date or name that belongs in such a field. */
const maxShownLength = 64
/** The longest name of a thing (schemas/common.json). A text that may be longer is free text. */
const maxNameLength = 256

const number = /^[+-]?[\d.,]+(e[+-]?\d+)?$/i
const dateTime = /^[\dT:.,Z+ -]+$/i

/** Whether a text looks like what a field should hold, right or nearly so. */
function fits(schema: AnySchemaObject, text: string): boolean {
  const { enum: words, type, format, maxLength } = schema
  if (words) return words.includes(text)
  if (isGuidSchema(schema)) return parseGuid(text) !== undefined
  if (format === 'date-time') return dateTime.test(text)
  if (type === 'string') return maxLength <= maxNameLength
  return type === undefined || (['number', 'integer'].includes(type) && number.test(text))
}

/**
 * Whether a value of an event may be shown under this name: a schema has the name, none says that it is personal, and the value is what
 * belongs there: an id, a number, a date, one of a few words, or the name of a thing. Not the other way round: an event that failed may
 * well have a person's name in a field that nobody thought of, or in the one beside its own.
 */
export function mayShow(name: string, value: string | number): boolean {
  const fields = byName.get(name)
  const text = String(value)
  if (!fields || fields.some(isMarked) || text.length > maxShownLength) return false
  return fields.some(({ schema }) => fits(schema, text))
}

/** An event, or any document of a publisher: of all that it holds only what the contract lets be shown (`mayShow`), and names. */
export function maskedEvent(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return mayShow(name, value) ? value : `*** (${value.length} characters)`
  if (typeof value === 'number') return mayShow(name, value) ? value : '***'
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => maskedEvent(item, name))
  const entries = Object.entries(value).map(([key, inner], index) => [
    isPlainKey(key) ? key : `*** ${index + 1}`,
    maskedEvent(inner, key),
  ])
  return Object.fromEntries(entries)
}
