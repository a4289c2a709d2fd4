import { fullFields, knownVersions } from '../schemas/schemas.ts'
import { envelopeFault, isForeignName, isObject, limitFault, payloadFault, together } from '../validation/check.ts'
import { EnvelopeError, type EnvelopeErrorCode, type Fault, type Problem } from '../validation/problems.ts'
import { decode, isPlain } from './parse.ts'

/**
 * By whose rules a document is judged: a `publisher` sends the full envelope, a `receiver` accepts one with the six fields of
 * the reduced variant. Payload and limits are held against the same rules by both.
 */
export const modes = ['publisher', 'receiver'] as const

export type Mode = (typeof modes)[number]

/** The result of validating one document. It contains no values of the document, so it can be logged. */
export interface Verdict {
  valid: boolean
  /** Variant of the envelope, even if its Payload is invalid; null for another document. */
  variant: 'full' | 'reduced' | null
  /** Code of the first check that failed; undefined for a valid document. */
  code?: EnvelopeErrorCode
  /** Every problem, each pointer once; empty for a valid document. */
  errors: Problem[]
  /** Notes on a valid document: a Name without a schema, whose Payload was not checked. */
  warnings: Problem[]
}

/**
 * Judges bytes as they would stand in a Kafka value. Never throws for what they hold.
 * @param bytes UTF-8 JSON, with or without a byte order mark
 */
export function validateBytes(bytes: Uint8Array, mode: Mode): Verdict {
  let document: unknown
  try {
    document = decode(bytes)
  } catch (error) {
    if (error instanceof EnvelopeError) return verdictOf(error, null, [])
    throw error
  }
  return judge(document, mode, isPlain(bytes))
}

/** Judges text that was read from UTF-8, as `validateBytes` judges its bytes. @param isPlain whether it escapes nothing */
export function validateText(text: string, mode: Mode, isPlain: boolean): Verdict {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return validateBytes(Buffer.from(text), mode)
  }
  return judge(document, mode, isPlain)
}

/**
 * Judges a JSON value, such as JSON.parse makes. A receiver of the services decides alike, but for the events that it names:
 * an event of another Name is somebody else's, and an event of a Version that has a schema and that it does not handle is
 * refused (`selectEvent`).
 */
export function validateDocument(document: unknown, mode: Mode): Verdict {
  return judge(document, mode, false)
}

function judge(document: unknown, mode: Mode, isPlain: boolean): Verdict {
  const limits = limitFault(document, isPlain)
  const received = together(limits, envelopeFault(document, 'received'))
  const variant = received ? null : isFull(document as object) ? 'full' : 'reduced'
  const isLacking = mode === 'publisher' && variant !== 'full'
  const envelope = isLacking ? together(limits, envelopeFault(document, 'full')) : received
  if (!isObject(document)) return verdictOf(envelope, variant, [])
  const warnings = isForeignName((document as { Name?: unknown }).Name) ? [foreignEvent()] : []
  return verdictOf(together(envelope, warnings.length > 0 ? undefined : payloadFault(document)), variant, warnings)
}

function isFull(envelope: object): boolean {
  return fullFields.every((field) => Object.hasOwn(envelope, field))
}

function foreignEvent(): Problem {
  const hint = `known events: ${[...knownVersions.keys()].join(', ')}`
  return { pointer: '/Name', message: 'is not a known event, so the Payload was not checked', hint }
}

function verdictOf(fault: Fault | undefined, variant: Verdict['variant'], warnings: Problem[]): Verdict {
  if (!fault) return { valid: true, variant, errors: [], warnings }
  return { valid: false, variant, code: fault.code, errors: fault.problems, warnings }
}
