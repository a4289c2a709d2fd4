import { typeOf } from '../schemas/event-type.ts'
import { payloadFields } from '../schemas/field-schema.ts'
import type { EventType } from '../schemas/types.ts'
import { EnvelopeError, type Problem } from '../validation/error.ts'
import { hiddenByParsing } from '../validation/json-text.ts'
import { pointerOf } from '../validation/limits.ts'

/** A run of characters without which a number has at most 15 digits. A double keeps 15 digits of any number that is not almost zero. */
const manyDigits = /[\d.]{16}/

/**
 * Returns the numbers of a known event's Payload that the contract names and that lost digits when its text was read. Other numbers are
 * data of the publisher: nothing here reads them.
 * @param bytes the text that the event was read from
 */
export function inexactFields(event: { Name: string; Version: number; Payload: object }, bytes: Uint8Array): Problem[] {
  const names = payloadFields(typeOf(event) as EventType)
  const payload = event.Payload as Record<string, unknown>
  const numbers = names.filter((name) => typeof payload[name] === 'number')
  if (numbers.length === 0) return []
  // A number that is almost zero is read as zero, however few digits it has.
  const mayBeInexact =
    numbers.some((name) => payload[name] === 0) || manyDigits.test(Buffer.from(bytes).toString('latin1'))
  if (!mayBeInexact) return []
  const inexact = hiddenByParsing(bytes).inexactNumbers.filter(([field]) => field === 'Payload')
  return numbers
    .filter((name) => inexact.some((keys) => keys.length === 2 && keys[1] === name))
    .map((name) => inexactNumber(pointerOf(['Payload', name])))
}

/** Describes a number that loses digits. */
export function inexactNumber(pointer: string): Problem {
  const hint = 'write at most 15 digits, such as 12.5'
  return { pointer, message: 'has more digits than a 64-bit double keeps, so its value would change', hint }
}

/**
 * Refuses an event whose numbers lost digits.
 * @throws {EnvelopeError} `invalid-payload`
 */
export function requireExactFields(event: { Name: string; Version: number; Payload: object }, bytes: Uint8Array): void {
  const problems = inexactFields(event, bytes)
  if (problems.length > 0) throw new EnvelopeError({ code: 'invalid-payload', problems })
}
