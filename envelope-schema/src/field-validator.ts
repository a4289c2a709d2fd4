import type { Problem } from './error.ts'
import { toProblems } from './problems.ts'
import { compileFields, newestVersion, payloadSchemas } from './schemas.ts'
import type { EventName } from './types.ts'

/**
 * A check for another JSON document, such as a request's body, whose fields become fields of an event: each obeys the
 * rules of the payload field it is mapped to, in the event's newest version. All of them are required.
 * @returns a function that lists every problem of a document; the list is empty if there is none
 */
export function fieldValidator(
  fields: Record<string, readonly [event: EventName, field: string]>,
): (body: unknown) => Problem[] {
  const validate = compileFields(fields)
  return (body) => (validate(body) ? [] : toProblems(validate.errors ?? []))
}

/** Whether a payload field holds a GUID, in the event's newest version: receivers see it in lower case. */
export function isGuidField(event: EventName, field: string): boolean {
  return payloadSchemas.get(event)?.get(newestVersion(event))?.guidFields.includes(field) ?? false
}
