import type { AnySchemaObject } from 'ajv/dist/2020.js'
import { commonSchema, eventSchemas, fieldsOf, inline, knownVersions, typeOf } from '../schemas/schemas.ts'
import type { Envelope, EventName, FullEvent } from '../schemas/types.ts'
import { isObject, payloadFault } from '../validation/check.ts'
import { describeProblem } from '../validation/problems.ts'
import { withLowerCasePayload } from './parse.ts'

/**
 * Returns an event in the newest version of its name; the event itself when it already has that version, or a later one.
 * @throws {Error} the contract does not say how the older Payload becomes a newer one
 */
export function upcast<N extends EventName>(event: Envelope & { Name: N }): FullEvent<N>
export function upcast(event: Envelope): Envelope {
  const later = knownVersions.get(event.Name)?.filter((version) => version > event.Version) ?? []
  const newest = later.at(-1)
  if (newest === undefined) return event
  const schemas = [event.Version, ...later].map((Version) => schemaOf(event.Name, Version))
  const upcasted = { ...event, Version: newest, Payload: upcastPayload(event.Payload, schemas) }
  const problems = payloadFault(upcasted)?.problems
  if (problems) {
    const [from, to] = [typeOf(event), typeOf(upcasted)]
    const wrong = problems.map(describeProblem).join('; ')
    throw new Error(`${from} becomes no valid ${to}: ${wrong}. Declare x-upcast in the schema of ${to}`)
  }
  return withLowerCasePayload(upcasted)
}

const schemaOf = (Name: string, Version: number) => eventSchemas.get(typeOf({ Name, Version })) ?? {}

/**
 * Returns a Payload of the first of these schemas as a Payload of the last one. Values of fields that a schema and its successor both name
 * stay. A field that only one of them names is left out: the older version did not check its value, or the newer one has no use for it. Then
 * the newer schema's `x-upcast` fills fields.
 * @param schemas the schema of each version, in ascending order
 */
export function upcastPayload(payload: object, schemas: readonly AnySchemaObject[]): Record<string, unknown> {
  const steps = schemas.slice(1).map((newer, index) => [schemas[index] ?? {}, newer] as const)
  return steps.reduce(
    (older, [before, after]) => ({
      ...(commonPart(older, before, after) as object),
      ...(fill(after['x-upcast'] ?? {}, older) as object),
    }),
    payload as Record<string, unknown>,
  )
}

function commonPart(value: unknown, before: AnySchemaObject, after: AnySchemaObject): unknown {
  if (!isObject(value)) return value
  if (Array.isArray(value)) {
    const [older, newer] = [itemsOf(before), itemsOf(after)]
    return value.map((item) => commonPart(item, older, newer))
  }
  const [older, newer] = [fieldsOf(before), fieldsOf(after)]
  const common = Object.entries(value).filter(([name]) => older.has(name) === newer.has(name))
  return Object.fromEntries(
    common.map(([name, own]) => [name, commonPart(own, older.get(name) ?? {}, newer.get(name) ?? {})]),
  )
}

const itemsOf = ({ items = {} }: AnySchemaObject): AnySchemaObject => inline(items, commonSchema.$defs)

/** Returns a template with each `{ "x-from": POINTER }` replaced by that value of the Payload, and without fields that have no value. */
function fill(template: unknown, payload: unknown): unknown {
  if (!isObject(template)) return template
  if (Array.isArray(template)) return template.map((item) => fill(item, payload))
  if ('x-from' in template) return valueAt(payload, String(template['x-from']))
  const fields = Object.entries(template).map(([name, own]) => [name, fill(own, payload)] as const)
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined))
}

function valueAt(document: unknown, pointer: string): unknown {
  const keys = pointer.split('/').slice(1)
  return keys.reduce((value, key) => (Object(value) as Record<string, unknown>)[key], document)
}
