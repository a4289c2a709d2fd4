import {
  hiddenByParsing,
  inexactFields,
  type Mode,
  type Problem,
  parseEnvelope,
  pointerOf,
  type Verdict,
  validateBytes,
} from '@orderflow/envelope'
import type { Item } from './body.ts'

/**
 * Below the topics' 256 KiB (packages/service-kit/src/stream/topic-settings.ts), which include a record's key, headers
 * and batch. So the broker never refuses an envelope that is accepted here.
 */
export const maxEnvelopeBytes = 255 * 1024

/** A verdict of the contract, or that the envelope is too large. */
export type Judgement = Omit<Verdict, 'code'> & { code?: Verdict['code'] | 'too-large' }

/**
 * Judges an envelope as it would be stored in the log. It refuses a duplicate key, although receivers use the last one:
 * a program that uses another one would see another application or tenant than the admitted one. It refuses a number of
 * the contract that changes when it is read, because services reject such an event to the dead-letter topic.
 */
export function judge(text: Uint8Array, mode: Mode): Judgement {
  if (text.length > maxEnvelopeBytes) return tooLarge(text.length)
  const verdict = validateBytes(text, mode)
  // Skipped for an invalid envelope, which could be made to cost time.
  if (!verdict.valid) return verdict
  const twice = new Set(hiddenByParsing(text).duplicateKeys.map(pointerOf))
  if (twice.size > 0) return refused(verdict, 'not-an-envelope', Array.from(twice, twiceAt))
  // The Payload of an event without a schema is not read here.
  const inexact = verdict.warnings.length > 0 ? [] : inexactFields(parseEnvelope(text), text)
  return inexact.length > 0 ? refused(verdict, 'invalid-payload', inexact) : verdict
}

function refused(verdict: Verdict, code: Verdict['code'], errors: Problem[]): Judgement {
  return { ...verdict, valid: false, ...(code && { code }), errors }
}

function tooLarge(bytes: number): Judgement {
  const message = `has ${bytes} bytes, and may have ${maxEnvelopeBytes}`
  const hint = 'store large data elsewhere, and put its address into the event'
  return { valid: false, variant: null, code: 'too-large', errors: [{ pointer: '', message, hint }], warnings: [] }
}

function twiceAt(pointer: string): Problem {
  const hint = 'write each key once: programs disagree on which of two values applies'
  return { pointer, message: 'has a key twice', hint }
}

/** The outcome of one envelope. It holds no value of the envelope except an Id that is a GUID. */
export interface Outcome {
  index: number
  line?: number
  /**
   * - `accepted`: it is in the log;
   * - `refused`: it is not in the log, and must be changed before it is sent again;
   * - `unsent`: it is not in the log, and can be sent again;
   * - `unknown`: the gateway cannot tell whether it is in the log.
   */
  outcome: 'accepted' | 'refused' | 'unsent' | 'unknown'
  /** The Id that receivers use; null if its record position determines the Id. */
  id: string | null
  variant: Judgement['variant']
  /** The reason of a refusal. */
  code?: Judgement['code'] | 'untrusted' | 'not-taken'
  errors: Judgement['errors']
  warnings: Judgement['warnings']
  /** The effect of sending it again, if that is possible. */
  retry?: string
}

/** Returns the outcome of an envelope for its sender. */
export function outcomeOf(
  { index, line }: Item,
  outcome: Outcome['outcome'],
  judgement: Omit<Judgement, 'valid'>,
  id: string | null,
): Outcome {
  const { variant, code, errors, warnings } = judgement
  return { index, ...(line !== undefined && { line }), outcome, id, variant, ...(code && { code }), errors, warnings }
}
