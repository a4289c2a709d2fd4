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
 * Below the topics' limit of 256 KiB (packages/service-kit/src/stream/topic-settings.ts), which includes key, headers and batch overhead.
 */
export const maxEnvelopeBytes = 255 * 1024

export type Judgement = Omit<Verdict, 'code'> & { code?: Verdict['code'] | 'too-large' }

/**
 * Validates an envelope in the form in which the log would contain it.
 *
 * Rejects a duplicate key: a program that uses its first value would see an AppId or tenant that was not checked. Rejects numbers that lose
 * digits, because services would reject the event as a dead letter.
 */
export function judge(text: Uint8Array, mode: Mode): Judgement {
  if (text.length > maxEnvelopeBytes) return tooLarge(text.length)
  const verdict = validateBytes(text, mode)
  // The scan below could take long for a hostile envelope.
  if (!verdict.valid) return verdict
  const twice = new Set(hiddenByParsing(text).duplicateKeys.map(pointerOf))
  if (twice.size > 0) return refused(verdict, 'not-an-envelope', Array.from(twice, twiceAt))
  // Only a Payload with a known schema is checked, because services ignore other events.
  const inexact = verdict.warnings.length > 0 ? [] : inexactFields(parseEnvelope(text), text)
  return inexact.length > 0 ? refused(verdict, 'invalid-payload', inexact) : verdict
}

function refused(verdict: Verdict, code: Verdict['code'], errors: Problem[]): Judgement {
  return { ...verdict, valid: false, ...(code && { code }), errors }
}

function tooLarge(bytes: number): Judgement {
  const message = `has ${bytes} bytes, but at most ${maxEnvelopeBytes} are allowed`
  const hint = 'store large data elsewhere, and send its address in the event'
  return { valid: false, variant: null, code: 'too-large', errors: [{ pointer: '', message, hint }], warnings: [] }
}

function twiceAt(pointer: string): Problem {
  const hint = 'write each key once: programs differ in the value that they use'
  return { pointer, message: 'has a key twice', hint }
}

/** The outcome of one envelope. It has no value of the envelope except an Id that is a GUID. */
export interface Outcome {
  index: number
  line?: number
  /**
   * - `accepted`: it is in the log;
   * - `refused`: it is not in the log, and must be changed before it is sent again;
   * - `unsent`: it is not in the log, and can be sent again;
   * - `unknown`: it may or may not be in the log.
   */
  outcome: 'accepted' | 'refused' | 'unsent' | 'unknown'
  /** The Id that receivers use; null for a refused envelope without Id. */
  id: string | null
  variant: Judgement['variant']
  code?: Judgement['code'] | 'untrusted' | 'not-taken'
  errors: Judgement['errors']
  warnings: Judgement['warnings']
  retry?: string
}

export function outcomeOf(
  { index, line }: Item,
  outcome: Outcome['outcome'],
  judgement: Omit<Judgement, 'valid'>,
  id: string | null,
): Outcome {
  const { variant, code, errors, warnings } = judgement
  return { index, ...(line !== undefined && { line }), outcome, id, variant, ...(code && { code }), errors, warnings }
}
