import { fullFields, knownVersions } from '../schemas/schemas.ts'
import { envelopeFault, isForeignName, isObject, limitFault, payloadFault, together } from '../validation/check.ts'
import { EnvelopeError, type EnvelopeErrorCode, type Fault, type Problem } from '../validation/problems.ts'
import { decode, isPlain } from './parse.ts'

/** Rules for a document: a `publisher` sends the full envelope, a `receiver` also accepts the six fields of the reduced variant. */
export const modes = ['publisher', 'receiver'] as const

export type Mode = (typeof modes)[number]

/** The result of validating one document. It contains no values, so it can be logged. */
export interface Verdict {
  valid: boolean
  /** Null if the document is not an envelope. */
  variant: 'full' | 'reduced' | null
  code?: EnvelopeErrorCode
  /** All problems, at most one for each pointer. */
  errors: Problem[]
  /** Present if the Payload is unchecked, because the Name has no schema. */
  warnings: Problem[]
}

/**
 * Validates the bytes of a Kafka value.
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

/** Validates a text, with the same result as `validateBytes`. @param isPlain true if the text has no escapes */
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
 * Validates a JSON value. A service gives the same result for Names and Versions that it handles. The service skips other
 * Names, and rejects other Versions (`selectEvent`).
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
