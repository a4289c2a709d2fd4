import { EnvelopeError, envelopeErrorCodes } from '@orderflow/envelope'
import { OverloadError } from '../sidecar/batcher.ts'
import { SidecarError } from '../sidecar/sidecar.ts'
import type { Mask } from '../telemetry/mask.ts'
import { UntrustedError } from '../trust/trust.ts'

/**
 * The reason why an event can never be handled. `code` is stable and groups dead letters. `detail` names the necessary correction, without personal
 * data.
 */
export interface Fault {
  code: string
  detail: string
}

/** Wraps every error of a handler, so that its bugs differ from those of the code around it. */
export class HandlerError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'unknown', { cause })
    this.name = 'HandlerError'
  }
}

/** The codes of bugs in the handler and in our own code around it. Such an event is tried again alone before it becomes a dead letter. */
export const bugs: ReadonlySet<string> = new Set(['handler-error', 'internal-error'])

/** The codes of our own faults. The same bytes may succeed after the service or its platform is fixed. */
export const ourFaults: ReadonlySet<string> = new Set(['refused', ...bugs])

/** Returns all codes that a fault can have. */
export function faultCodes(refusals: ReadonlySet<string>): string[] {
  return [...envelopeErrorCodes, ...ourFaults, 'untrusted', ...refusals]
}

/** Returns true if the platform failed. The same event or request may succeed later. */
export function isInfrastructure(error: unknown): boolean {
  const cause = thrownBy(error)
  return cause instanceof OverloadError || (cause instanceof SidecarError && cause.failure !== 'refused')
}

/** Returns the original error, which a `HandlerError` wraps. */
export function thrownBy(error: unknown): unknown {
  return error instanceof HandlerError ? error.cause : error
}

/**
 * Returns the reason why an event can never be handled. It is invalid, its publisher may not send it, it breaks a rule of the domain, or it meets a
 * bug.
 * @param refusals codes of the domain's errors
 */
export function faultOf(error: unknown, refusals: ReadonlySet<string>, mask: Pick<Mask, 'text'>): Fault {
  if (error instanceof EnvelopeError) return { code: error.code, detail: JSON.stringify(error.problems) }
  if (error instanceof UntrustedError) return { code: error.code, detail: mask.text(error.message) }
  if (!(error instanceof HandlerError)) return { code: 'internal-error', detail: describe(error, mask) }
  const { cause } = error
  if (cause instanceof SidecarError) return { code: 'refused', detail: mask.text(cause.message) }
  const code = refusalCode(cause, refusals)
  if (code !== undefined) return { code, detail: mask.text((cause as Error).message) }
  const what = cause instanceof EnvelopeError ? 'the handler made an invalid event: ' : ''
  return { code: 'handler-error', detail: `${what}${describe(cause, mask)}` }
}

function describe(error: unknown, mask: Pick<Mask, 'text'>): string {
  return error instanceof Error ? mask.text(`${error.name}: ${error.message}`) : 'unknown'
}

/** Returns the code of an error of the domain; undefined for other errors. */
function refusalCode(error: unknown, refusals: ReadonlySet<string>): string | undefined {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined
  return code !== undefined && refusals.has(code) ? code : undefined
}
