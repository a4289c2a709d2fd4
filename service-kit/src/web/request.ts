import { type EventName, type Problem as FieldProblem, fieldValidator, isGuidField } from '@orderflow/envelope-schema'
import type { Request } from 'express'
import { guid } from './guid.ts'
import { type FieldError, invalid } from './problem.ts'

/**
 * A reader for a JSON body whose fields obey the contract: each names the event payload field whose rules it takes
 * over, so that what the API accepts is what the event may say. All fields are required; GUIDs come lower-cased, and
 * fields that are not listed do not come at all.
 * @throws {Problem} (the reader) 400 naming each field by its JSON pointer
 */
export function bodyReader<T>(
  fields: { [K in keyof T & string]: [event: EventName, field: string] },
): (body: unknown) => T {
  const validate = fieldValidator(fields)
  const readers = Object.entries<[event: EventName, field: string]>(fields).map(([name, source]) => ({
    name,
    read: isGuidField(...source) ? (value: unknown) => String(value).toLowerCase() : (value: unknown) => value,
  }))
  return (body) => {
    const given = (body === undefined ? {} : body) as Record<string, unknown>
    const problems = validate(given)
    if (problems.length > 0) throw invalid(problems.map(fieldError))
    return Object.fromEntries(readers.map(({ name, read }) => [name, read(given[name])])) as T
  }
}

function fieldError({ pointer, message, hint }: FieldProblem): FieldError {
  return { pointer, detail: hint ? `${message} (${hint})` : message }
}

/** A GUID of the path or query, lower-cased. @throws {Problem} 400 naming the parameter */
export function readGuid(name: string, value: unknown): string {
  if (typeof value === 'string' && guid.test(value)) return value.toLowerCase()
  throw invalid([{ pointer: name, detail: 'is not a GUID, such as 7d9f3c52-2f0b-4c7e-9f59-0a5d1f3b8e11' }])
}

/** As `readGuid`, for a query parameter that may be left out. */
export function readQueryGuid(request: Request, name: string): string | undefined {
  return request.query[name] === undefined ? undefined : readGuid(name, request.query[name])
}

/** The `Idempotency-Key` header: 1 to 255 visible ASCII characters. @throws {Problem} 400 when it is anything else */
export function readIdempotencyKey(request: Request): string | undefined {
  const key = request.get('idempotency-key')
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key
  throw invalid([{ pointer: 'Idempotency-Key', detail: 'takes 1 to 255 visible ASCII characters' }])
}

const defaultLimit = 20
const maxLimit = 100

/** `limit` (1 to 100, default 20) and `cursor` of a list request. @throws {Problem} 400 naming the parameter */
export function readPageOptions(request: Request): { limit: number; cursor: string | undefined } {
  const { limit = String(defaultLimit), cursor } = request.query
  const count = typeof limit === 'string' && /^\d{1,3}$/.test(limit) ? Number(limit) : 0
  if (count < 1 || count > maxLimit)
    throw invalid([{ pointer: 'limit', detail: `is a whole number from 1 to ${maxLimit}` }])
  if (cursor !== undefined && typeof cursor !== 'string')
    throw invalid([{ pointer: 'cursor', detail: 'is given once' }])
  return { limit: count, cursor }
}
