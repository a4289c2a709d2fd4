import type { ValidateFunction } from 'ajv/dist/2020.js'
import { isRequiredField } from '../schemas/field-schema.ts'
import { commonSchema, fieldOf, isGuidSchema, newestType } from '../schemas/schemas.ts'
import type { EventName, EventType } from '../schemas/types.ts'
import { sharedAjv } from './ajv.ts'
import type { Problem } from './error.ts'
import { limitProblems } from './limits.ts'
import { onePerPointer, toProblems } from './problems.ts'

/** A field of a Payload: its event type, or the name of the event for its newest version, and its name. */
type PayloadField = readonly [type: EventType | EventName, field: string]

/**
 * Returns a validator for another JSON document, such as a request's body, whose fields become fields of an event. Each field obeys the
 * rules of its payload field, in that version of the event, and the limits of every event (limits.ts). A field is required if the
 * payload's is.
 * @returns a function that lists every problem of a document
 */
export function fieldValidator(fields: Record<string, PayloadField>): (body: unknown) => Problem[] {
  const validate = compileFields(fields)
  const names = Object.keys(fields)
  return (body) => {
    const problems = validate(body) ? [] : toProblems(validate.errors ?? [])
    const given = Object(body) as Record<string, unknown>
    return onePerPointer([...problems, ...limitProblems(Object.fromEntries(names.map((name) => [name, given[name]])))])
  }
}

/**
 * Returns whether a payload field is a GUID, which receivers see in lower case.
 * @throws {Error} when the type's schema does not name the field
 */
export function isGuidField(type: EventType | EventName, field: string): boolean {
  return isGuidSchema(fieldOf(type, field))
}

/** Compiles a validator of an object whose fields follow fields of payloads. */
function compileFields(fields: Record<string, PayloadField>): ValidateFunction {
  const all = Object.entries(fields)
  const properties = all.map(([name, [type, field]]) => {
    const { href } = new URL(`events/${newestType(type).replace('@', '.')}.json#/properties/${field}`, commonSchema.$id)
    return [name, { $ref: href }]
  })
  return sharedAjv().compile({
    type: 'object',
    required: all.filter(([, [type, field]]) => isRequiredField(type, field)).map(([name]) => name),
    properties: Object.fromEntries(properties),
  })
}
