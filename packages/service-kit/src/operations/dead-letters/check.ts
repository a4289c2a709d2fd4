import {
  describeProblem,
  EnvelopeError,
  envelopeErrorCodes,
  parseEvent,
  requireExactFields,
} from '@orderflow/envelope-schema'
import { ourFaults } from '../../stream/intake.ts'
import { type Trust, UntrustedError } from '../../trust/trust.ts'

/** Reasons that are decided anew, by what the schemas and the trust file say today. */
const decidedAnew: ReadonlySet<string> = new Set([...envelopeErrorCodes, 'untrusted', ...ourFaults])

/** Whether an event with this reason may be replayed as it is. With any other reason it contradicts what the service knows. */
export const isDecidedAnew = (reason: string): boolean => decidedAnew.has(reason)

/** An event that is to be sent back. */
export interface Resend {
  topic: string
  value: Uint8Array
  /** Of the dead letter; undefined for an event that was edited since. */
  reason: string | undefined
  /** Of the record that failed. */
  signature: string | undefined
  /** Whether the operator answers for it: then it is signed with the key of the operator, if it speaks as a service of ours. */
  isVouchedFor: boolean
}

/**
 * Why these bytes, sent back, would end as a dead letter again, in one line for each problem; when they would not, the signature that
 * they go with.
 */
export function checkResend(
  { topic, value, reason, signature, isVouchedFor }: Resend,
  trust: Trust,
): { why: string[] } | { signature: string | undefined } {
  try {
    const event = parseEvent(value)
    requireExactFields(event, value)
    if (reason !== undefined && !isDecidedAnew(reason)) {
      return { why: [`${reason}: it contradicts what the service knows, and will again unless it is edited`] }
    }
    const signed = isVouchedFor ? trust.vouch(event, value) : signature
    trust.requireTrusted(topic, event, { value, signature: signed, appendedAt: Date.now() })
    return { signature: signed }
  } catch (error) {
    if (error instanceof UntrustedError) return { why: [`${error.code}: ${error.message}`] }
    if (!(error instanceof EnvelopeError)) throw error
    return { why: error.problems.map((problem) => `${error.code}: ${describeProblem(problem)}`) }
  }
}
