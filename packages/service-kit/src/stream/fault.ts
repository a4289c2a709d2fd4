import { EnvelopeError, envelopeErrorCodes } from '@orderflow/envelope-schema'
import { OverloadError } from '../sidecar/batcher.ts'
import { SidecarError } from '../sidecar/sidecar.ts'
import { maskedText } from '../telemetry/mask.ts'
import { UntrustedError } from '../trust/trust.ts'

/** Why an event can never be handled. `code` is stable and groups dead letters; `detail` says what to correct, without personal data. */
export interface Fault {
  code: string
  detail: string
}

/** Thrown in place of whatever a handler throws, so that its bugs are told apart from those of the code around it. */
export class HandlerError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'unknown', { cause })
    this.name = 'HandlerError'
  }
}

/** Codes of bugs: of the handler, and of our own code around it. An event that meets one is tried once more, alone, before it is given up. */
export const bugs: ReadonlySet<string> = new Set(['handler-error', 'internal-error'])

/** Codes that blame us and not the event: the same bytes may pass once the service or its platform is corrected. */
export const ourFaults: ReadonlySet<string> = new Set(['refused', ...bugs])

/** All codes that a fault can have. */
export function faultCodes(refusals: ReadonlySet<string>): string[] {
  return [...envelopeErrorCodes, ...ourFaults, 'untrusted', ...refusals]
}

/** Whether the platform failed, and the same may succeed later: nothing is wrong with the event or request. */
export function isInfrastructure(error: unknown): boolean {
  const cause = thrownBy(error)
  return cause instanceof OverloadError || (cause instanceof SidecarError && cause.failure !== 'refused')
}

/** Returns what was thrown in the first place: by the handler, if it was the handler. */
export function thrownBy(error: unknown): unknown {
  return error instanceof HandlerError ? error.cause : error
}

/**
 * What can never succeed: an invalid event, one that its publisher may not send or that breaks a rule of the domain, or a bug that this
 * event meets.
 * @param refusals codes of the domain's errors
 */
export function faultOf(error: unknown, refusals: ReadonlySet<string>): Fault {
  if (error instanceof EnvelopeError) return { code: error.code, detail: JSON.stringify(error.problems) }
  if (error instanceof UntrustedError) return { code: error.code, detail: maskedText(error.message) }
  if (!(error instanceof HandlerError)) return { code: 'internal-error', detail: describe(error) }
  const { cause } = error
  if (cause instanceof SidecarError) return { code: 'refused', detail: maskedText(cause.message) }
  const code = refusalCode(cause, refusals)
  if (code !== undefined) return { code, detail: maskedText((cause as Error).message) }
  const what = cause instanceof EnvelopeError ? 'the reaction is not a valid event: ' : ''
  return { code: 'handler-error', detail: `${what}${describe(cause)}` }
}

function describe(error: unknown): string {
  return error instanceof Error ? maskedText(`${error.name}: ${error.message}`) : 'unknown'
}

/** The code of an error that the domain threw, when it is one of its refusals. */
function refusalCode(error: unknown, refusals: ReadonlySet<string>): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code !== undefined && refusals.has(code) ? code : undefined
}
