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

/** The topics' limit of 256 KiB (packages/service-kit/src/stream/publishing/topic-settings.ts) also includes key, headers and batch overhead. */
export const maxEnvelopeBytes = 255 * 1024

export type Judgement = Omit<Verdict, 'code'> & { code?: Verdict['code'] | 'too-large' }

/**
 * Validates the bytes that the log would contain.
 *
 * Rejects a duplicate key, because only the last value of the key was checked, and some programs use the first. Rejects a number that would lose
 * digits, because services would reject the event.
 */
export function judge(text: Uint8Array, mode: Mode): Judgement {
  if (text.length > maxEnvelopeBytes) return tooLarge(text.length)
  const verdict = validateBytes(text, mode)
  // Returns before the scan below, which could take long for a hostile envelope.
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

/** The outcome of one envelope. It contains no values of the envelope, apart from an Id that is a GUID. */
export interface Outcome {
  index: number
  line?: number
  /**
   * - `accepted`: the envelope is in the log;
   * - `refused`: the envelope is not in the log; correct it before you send it again;
   * - `unsent`: the envelope is not in the log; send it again;
   * - `unknown`: the envelope may be in the log; send it again.
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
