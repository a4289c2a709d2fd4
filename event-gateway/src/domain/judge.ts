import { type Mode, type Problem, pointerOf, type Verdict, validateBytes } from '@orderflow/envelope-schema'
import { duplicateKeys } from './json-text.ts'

/**
 * Below the topics' 256 KiB (service-kit/src/stream/topic-settings.ts), which are those of a record with its key and headers in its batch, so that what is
 * taken here is never refused by the broker.
 */
export const maxEnvelopeBytes = 255 * 1024

/** What is said of an envelope: what the contract says, and that it is too large. */
export type Judgement = Omit<Verdict, 'code'> & { code?: Verdict['code'] | 'too-large' }

/**
 * Judges an envelope as it would stand in the log. A key that stands twice is refused, though receivers take the last one: whoever takes
 * another one would see another application, or another tenant, than the one that was let in.
 */
export function judge(text: Uint8Array, mode: Mode): Judgement {
  if (text.length > maxEnvelopeBytes) return tooLarge(text.length)
  const verdict = validateBytes(text, mode)
  // Not of one that is refused anyway, which may be made to cost time.
  const twice = verdict.valid ? new Set(duplicateKeys(text).map(pointerOf)) : new Set<string>()
  if (twice.size === 0) return verdict
  return { ...verdict, valid: false, code: 'not-an-envelope', errors: Array.from(twice, twiceAt) }
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
