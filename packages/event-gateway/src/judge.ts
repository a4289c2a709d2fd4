import {
  hiddenByParsing,
  inexactFields,
  type Mode,
  type Problem,
  parseEnvelope,
  pointerOf,
  type Verdict,
  validateBytes,
} from '@orderflow/envelope-schema'
import type { Item } from './body.ts'

/**
 * Below the topics' 256 KiB (packages/service-kit/src/stream/topic-settings.ts), which are those of a record with its key and headers in its batch, so that what is
 * taken here is never refused by the broker.
 */
export const maxEnvelopeBytes = 255 * 1024

/** What is said of an envelope: what the contract says, and that it is too large. */
export type Judgement = Omit<Verdict, 'code'> & { code?: Verdict['code'] | 'too-large' }

/**
 * Judges an envelope as it would stand in the log. Refuses a duplicate key, though receivers use the last one: a program that uses another
 * one would see another application, or another tenant, than the one that was admitted. Refuses a number of the contract that would change
 * when it is read; services make a dead letter of it.
 */
export function judge(text: Uint8Array, mode: Mode): Judgement {
  if (text.length > maxEnvelopeBytes) return tooLarge(text.length)
  const verdict = validateBytes(text, mode)
  // Not of one that is refused anyway, which may be made to cost time.
  if (!verdict.valid) return verdict
  const twice = new Set(hiddenByParsing(text).duplicateKeys.map(pointerOf))
  if (twice.size > 0) return refused(verdict, 'not-an-envelope', Array.from(twice, twiceAt))
  // The Payload of an event that no schema names is not read here.
  const inexact = verdict.warnings.length > 0 ? [] : inexactFields(parseEnvelope(text), text)
  return inexact.length > 0 ? refused(verdict, 'invalid-payload', inexact) : verdict
}

function refused(verdict: Verdict, code: Verdict['code'], errors: Problem[]): Judgement {
  return { ...verdict, valid: false, ...(code && { code }), errors }
}

function tooLarge(bytes: number): Judgement {
  const message = `has ${bytes} bytes, and may have ${maxEnvelopeBytes}`
  const hint = 'an event tells what happened: put what is large elsewhere, and where it is into the event'
  return { valid: false, variant: null, code: 'too-large', errors: [{ pointer: '', message, hint }], warnings: [] }
}

function twiceAt(pointer: string): Problem {
  const hint = 'write each key once: of two, programs do not agree which one counts'
  return { pointer, message: 'has a key twice', hint }
}

/** What is told of an envelope to whoever sent it. Holds none of its values but its Id, if it is a GUID. */
export interface Outcome {
  index: number
  line?: number
  /**
   * - `accepted`: it is in the log;
   * - `refused`: it is not, and never will be as it is;
   * - `unsent`: it is not, and may be sent again;
   * - `unknown`: nobody knows whether it is.
   */
  outcome: 'accepted' | 'refused' | 'unsent' | 'unknown'
  /** The Id that it is known by downstream; null when its place in the log will make one. */
  id: string | null
  variant: Judgement['variant']
  /** Of what is refused. */
  code?: Judgement['code'] | 'untrusted' | 'not-taken'
  errors: Judgement['errors']
  warnings: Judgement['warnings']
  /** Of what may be sent again: what that would do. */
  retry?: string
}

/** What an envelope is, before anything is done with it. */
export function outcomeOf(
  { index, line }: Item,
  outcome: Outcome['outcome'],
  judgement: Omit<Judgement, 'valid'>,
  id: string | null,
): Outcome {
  const { variant, code, errors, warnings } = judgement
  return { index, ...(line !== undefined && { line }), outcome, id, variant, ...(code && { code }), errors, warnings }
}
