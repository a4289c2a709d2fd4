import { EnvelopeError, envelopeErrorCodes } from '@orderflow/envelope-schema'
import { OverloadError } from '../sidecar/overload-error.ts'
import { SidecarError } from '../sidecar/sidecar-error.ts'
import { maskedText } from '../telemetry/mask.ts'
import { UntrustedError } from '../trust/untrusted-error.ts'

/** Why an event can never be handled. `code` is stable and groups dead letters; `detail` tells what to mend, without personal data. */
export interface Fault {
  code: string
  detail: string
}

/** Codes that blame us and not the event: the same bytes may pass once the service or its platform is mended. */
export const ourFaults: ReadonlySet<string> = new Set(['refused', 'handler-error'])

/** All codes that a fault can have. */
export function faultCodes(refusals: ReadonlySet<string>): string[] {
  return [...envelopeErrorCodes, ...ourFaults, 'untrusted', ...refusals]
}

/** Whether the platform failed, and the same may succeed later: nothing is wrong with the event or request. */
export function isInfrastructure(error: unknown): boolean {
  return error instanceof OverloadError || (error instanceof SidecarError && error.failure !== 'refused')
}

/**
 * What can never succeed: an invalid event, one that its publisher may not say or that breaks a rule of the domain, or a bug in the handler that
 * this event meets.
 * @param refusals codes of the domain's errors
 */
export function faultOf(error: unknown, refusals: ReadonlySet<string>): Fault {
  if (error instanceof EnvelopeError) return { code: error.code, detail: JSON.stringify(error.problems) }
  if (error instanceof SidecarError) return { code: 'refused', detail: maskedText(error.message) }
  if (error instanceof UntrustedError) return { code: error.code, detail: maskedText(error.message) }
  const code = refusalCode(error, refusals)
  if (code !== undefined) return { code, detail: maskedText((error as Error).message) }
  const detail = error instanceof Error ? maskedText(`${error.name}: ${error.message}`) : 'unknown'
  return { code: 'handler-error', detail }
}

/** The code of an error that the domain threw, when it is one of its refusals. */
function refusalCode(error: unknown, refusals: ReadonlySet<string>): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code !== undefined && refusals.has(code) ? code : undefined
}
