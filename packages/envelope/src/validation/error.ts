/** One thing that is wrong with a document. */
export interface Problem {
  /**
   * JSON pointer (RFC 6901) of the field in the whole document, such as `/Payload/Field`; of a missing field the
   * pointer it should have; empty for the document itself.
   */
  pointer: string
  /** The problem in plain English. It never contains the value, which may be personal data. */
  message: string
  /** The correction, if the mistake is a known one. */
  hint?: string
}

/**
 * - `not-utf8`, `not-json`: the bytes are no JSON text;
 * - `not-an-envelope`: JSON, but not by the envelope's schema;
 * - `unknown-event`, `unknown-version`: there is no payload schema for the Name, or for this Version of it; or a
 *   receiver does not handle this Version of an event that it handles, or the Name is nearly one that it handles;
 * - `invalid-payload`: the Payload is not by its schema.
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

/** The reason for refusing a document: a stable code and every problem. It contains no values, so it can be logged. */
export interface Fault {
  code: EnvelopeErrorCode
  problems: Problem[]
}

/** A document was refused. `message` names every problem in one line; `problems` has them one by one. */
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

/** Returns a problem in one line: pointer, message and hint. */
export function describeProblem({ pointer, message, hint }: Problem): string {
  return `${pointer || 'the document'} ${message}${hint ? ` (${hint})` : ''}`
}

/** Throws the fault, if there is one. */
export function refuse(fault: Fault | undefined): void {
  if (fault) throw new EnvelopeError(fault)
}
