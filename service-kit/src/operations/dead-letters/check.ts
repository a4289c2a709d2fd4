import { describeProblem, EnvelopeError, envelopeErrorCodes, parseEvent } from '@orderflow/envelope-schema'
import { ourFaults } from '../../stream/fault.ts'

/** Reasons that the schemas decide: what they say today counts, not what they said then. */
const schemaReasons: ReadonlySet<string> = new Set(envelopeErrorCodes)

/**
 * Why these bytes, sent back, would end as a dead letter again, in one line for each problem; empty when they would not.
 * @param reason of the dead letter; undefined for an event that was edited since
 */
export function refusalOf(value: Uint8Array, reason: string | undefined): string[] {
  try {
    parseEvent(value)
  } catch (error) {
    if (!(error instanceof EnvelopeError)) throw error
    return error.problems.map((problem) => `${error.code}: ${describeProblem(problem)}`)
  }
  if (reason === undefined || schemaReasons.has(reason) || ourFaults.has(reason)) return []
  return [`${reason}: it contradicts what the service knows, and will again unless it is edited`]
}
