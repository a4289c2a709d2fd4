import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { parseGuid } from '../schemas/guid.ts'
import { envelopeFields, fieldsOf, isGuidSchema, payloadSchemas, schemaOf } from '../schemas/schemas.ts'
import type { EventName, EventType } from '../schemas/types.ts'
import { isPlainKey } from '../validation/check.ts'
import { fold, nearMissIn } from '../validation/near-miss.ts'

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

/** Returns JSON pointers to the personal fields of an event (keyword `x-pii`). The fields of the envelope come first. */
export function personalFields(type: EventType | EventName): readonly string[] {
  return [...ofEnvelope, ...ofPayload(type)].filter(isMarked).map(({ pointer }) => pointer)
}

/** Names of fields that are personal in at least one event. */
export const personalNames: readonly string[] = [...new Set(everyField.filter(isMarked).map(({ name }) => name))]

const byName = new Map(everyField.map(({ name }) => [name, everyField.filter((other) => other.name === name)]))

/**
 * Returns a function that tests whether a name means one of `names`. The name may contain one of `names`, or differ from it in case,
 * separators and one typing mistake (near-miss.ts). Names of other fields in the contract never match.
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

/** The envelope's fields that are objects. These objects may have any fields. */
export const openFields: readonly string[] = [...envelopeFields]
  .filter(([, { type }]) => type === 'object')
  .map(([name]) => name)

const maxShownLength = 64
/** The maximum length of the name of a thing (schemas/common.json). A longer text is free text. */
const maxNameLength = 256

const number = /^[+-]?[\d.,]+(e[+-]?\d+)?$/i
const date = /^[\dT:.,Z+ -]+$/i

function fits(schema: AnySchemaObject, text: string): boolean {
  const { enum: words, type, format, maxLength } = schema
  if (words) return words.includes(text)
  if (isGuidSchema(schema)) return parseGuid(text) !== undefined
  if (format) return date.test(text)
  if (type === 'string') return maxLength <= maxNameLength
  return type === undefined || (['number', 'integer'].includes(type) && number.test(text))
}

/**
 * Returns true if the value of a field with this name may be shown. The contract must declare the field without marking it as personal. The value
 * must be an id, a number, a date, one of a few words, or the name of a thing.
 */
export function mayShow(name: string, value: string | number): boolean {
  const fields = byName.get(name)
  const text = String(value)
  if (!fields || fields.some(isMarked) || text.length > maxShownLength) return false
  return fields.some(({ schema }) => fits(schema, text))
}

/** Masks all values of a document that `mayShow` forbids, and all keys that are not plain names (`isPlainKey`). */
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
