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
 * The limit of an envelope. It is lower than the topics' limit of 256 KiB (packages/service-kit/src/stream/topic-settings.ts), which
 * includes key, headers and batch overhead. So the broker accepts every envelope that is accepted here.
 */
export const maxEnvelopeBytes = 255 * 1024

/** The contract's verdict, or `too-large`. */
export type Judgement = Omit<Verdict, 'code'> & { code?: Verdict['code'] | 'too-large' }

/**
 * Validates an envelope as it would be in the log.
 *
 * Rejects a duplicate key, although receivers use the last one. Another program could use the first one, and see an AppId or tenant that
 * was not checked. Rejects a number of the contract that loses digits, because services would reject such an event to the dead-letter
 * topic.
 */
export function judge(text: Uint8Array, mode: Mode): Judgement {
  if (text.length > maxEnvelopeBytes) return tooLarge(text.length)
  const verdict = validateBytes(text, mode)
  // Skipped for an invalid envelope, because a hostile one could take long.
  if (!verdict.valid) return verdict
  const twice = new Set(hiddenByParsing(text).duplicateKeys.map(pointerOf))
  if (twice.size > 0) return refused(verdict, 'not-an-envelope', Array.from(twice, twiceAt))
  // The Payload of an event with an unknown schema is not read here.
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

/** The outcome of one envelope. It contains no value of the envelope except an Id that is a GUID. */
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
  /** The reason of a refusal. */
  code?: Judgement['code'] | 'untrusted' | 'not-taken'
  errors: Judgement['errors']
  warnings: Judgement['warnings']
  /** The effect of sending the envelope again, if that is possible. */
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
