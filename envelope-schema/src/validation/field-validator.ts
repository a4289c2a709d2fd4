import type { ValidateFunction } from 'ajv/dist/2020.js'
import { commonSchema, fieldOf, isGuidSchema } from '../schemas/schemas.ts'
import type { EventType } from '../schemas/types.ts'
import { sharedAjv } from './ajv.ts'
import type { Problem } from './error.ts'
import { limitProblems } from './limits.ts'
import { onePerPointer, toProblems } from './problems.ts'

/**
 * A check for another JSON document, such as a request's body, whose fields become fields of an event: each obeys the
 * rules of the payload field it is mapped to, in that version of the event, and the limits of every event (limits.ts). All
 * of them are required.
 * @returns a function that lists every problem of a document; the list is empty if there is none
 */
export function fieldValidator(
  fields: Record<string, readonly [type: EventType, field: string]>,
): (body: unknown) => Problem[] {
  const validate = compileFields(fields)
  const names = Object.keys(fields)
  return (body) => {
    const problems = validate(body) ? [] : toProblems(validate.errors ?? [])
    const given = Object(body) as Record<string, unknown>
    return onePerPointer([...problems, ...limitProblems(Object.fromEntries(names.map((name) => [name, given[name]])))])
  }
}

/**
 * Whether a payload field holds a GUID: receivers see it in lower case.
 * @throws {Error} when the type's schema does not name the field
 */
export function isGuidField(type: EventType, field: string): boolean {
  return isGuidSchema(fieldOf(type, field))
}

/** A validator of an object whose fields are each defined as a payload's field of an event type. */
function compileFields(fields: Record<string, readonly [type: string, field: string]>): ValidateFunction {
  const properties = Object.entries(fields).map(([name, [type, field]]) => {
    const { href } = new URL(`events/${type.replace('@', '.')}.json#/properties/${field}`, commonSchema.$id)
    return [name, { $ref: href }]
  })
  return sharedAjv().compile({
    type: 'object',
    required: Object.keys(fields),
    properties: Object.fromEntries(properties),
  })
}
