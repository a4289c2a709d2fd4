import type { ErrorObject } from 'ajv'
import { isGuidSchema, sharedRules } from '../schemas/schemas.ts'
import { dateHint, dateTimeHint, dateTypeHint, guidHint, missingFieldHint, typeHint, zeroHint } from './hints.ts'

export interface Problem {
  /** JSON pointer (RFC 6901) in the whole document, such as `/Payload/Field`. For a missing field, it is the pointer at which the field should be. */
  pointer: string
  /** Plain English without the value, which may be personal data. */
  message: string
  hint?: string
}

/**
 * Codes of a rejected document:
 * - `not-utf8`, `not-json`: the bytes are not a JSON text;
 * - `not-an-envelope`: the JSON does not match the envelope's schema;
 * - `unknown-event`: the Name has no schema, or it is nearly a Name that the receiver handles;
 * - `unknown-version`: the Version has no schema, or the receiver handles only other Versions;
 * - `invalid-payload`: the Payload does not match its schema.
 */
export const envelopeErrorCodes = [
  'not-utf8',
  'not-json',
  'not-an-envelope',
  'unknown-event',
  'unknown-version',
  'invalid-payload',
] as const

export type EnvelopeErrorCode = (typeof envelopeErrorCodes)[number]

/** The reason for rejecting a document. It contains no values, so it can be logged. */
export interface Fault {
  code: EnvelopeErrorCode
  problems: Problem[]
}

/** Reports that a document was rejected. `message` lists every problem in one line. */
export class EnvelopeError extends Error {
  readonly code: EnvelopeErrorCode
  readonly problems: Problem[]
  constructor({ code, problems }: Fault, options?: ErrorOptions) {
    super(`${code}: ${problems.map(describeProblem).join('; ')}`, options)
    this.name = 'EnvelopeError'
    this.code = code
    this.problems = problems
  }
}

export function describeProblem({ pointer, message, hint }: Problem): string {
  return `${pointer || 'the document'} ${message}${hint ? ` (${hint})` : ''}`
}

export function refuse(fault: Fault | undefined): void {
  if (fault) throw new EnvelopeError(fault)
}

/** The largest number of errors that are explained. A list of 256 KiB may have an invalid item for each two bytes. */
const maxErrors = 1_000

/** Returns the first problem that Ajv found for each field. `base` is the pointer of the validated value. */
export function toProblems(errors: ErrorObject[], base = ''): Problem[] {
  return onePerPointer(errors.slice(0, maxErrors).map((error) => toProblem(error, base)))
}

export function onePerPointer(problems: Problem[]): Problem[] {
  const seen = new Map<string, Problem>()
  for (const problem of problems) if (!seen.has(problem.pointer)) seen.set(problem.pointer, problem)
  return [...seen.values()]
}

function toProblem(error: ErrorObject, base: string): Problem {
  const pointer = `${base}${error.instancePath}`
  if (error.keyword === 'required') {
    const field = error.params.missingProperty as string
    return problem(`${pointer}/${field}`, 'is missing', missingFieldHint(error.data as object, field))
  }
  if (error.keyword === 'type') {
    const wanted = error.params.type as string
    const hint = error.parentSchema?.format === 'date-time' ? dateTypeHint(error.data) : typeHint(wanted, error.data)
    return problem(pointer, `must be ${typeName(wanted)}, not ${kindOf(error.data)}`, hint)
  }
  const text = error.data as string
  const rule = error.parentSchema ?? {}
  if (isGuidSchema(rule)) {
    return problem(pointer, 'must be a GUID: hex digits, 8-4-4-4-12', guidHint(text))
  }
  if (rule.not?.const === sharedRules.nonZeroGuid.not.const) return problem(pointer, 'must not be all zeros', zeroHint)
  if (rule.format === 'date-time') {
    return problem(
      pointer,
      'must be an ISO 8601 date-time with an offset, such as 2026-01-31T12:00:00Z',
      dateTimeHint(text),
    )
  }
  if (rule.format === 'date') return problem(pointer, 'must be a date such as 2026-01-31', dateHint(text))
  if (rule.pattern === sharedRules.notBlank.pattern && error.keyword === 'pattern') {
    return problem(pointer, 'must not be blank')
  }
  return problem(pointer, limitMessage(error))
}

function problem(pointer: string, message: string, hint?: string): Problem {
  return hint ? { pointer, message, hint } : { pointer, message }
}

/** Returns a message whose numbers and words come from the schema, never from the document. */
function limitMessage({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'minLength' && params.limit === 1) return 'must not be empty'
  if (keyword === 'maxLength') return `must have at most ${params.limit} characters`
  if (keyword === 'minimum') return `must be at least ${params.limit}`
  if (keyword === 'maximum') return `must be at most ${params.limit}`
  if (keyword === 'enum') return `must be one of: ${params.allowedValues.join(', ')}`
  return message ?? 'is not valid'
}

function typeName(type: string): string {
  return type === 'integer' ? 'a whole number' : type === 'object' ? 'an object' : `a ${type}`
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'number')
    return !Number.isFinite(value) ? 'NaN or Infinity' : Number.isInteger(value) ? 'a number' : 'a fraction'
  return typeName(typeof value)
}
