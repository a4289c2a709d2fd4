import { EnvelopeError, envelopeErrorCodes } from '@orderflow/envelope'
import { OverloadError } from '../../sidecar/batcher.ts'
import { SidecarError } from '../../sidecar/sidecar.ts'
import type { Mask } from '../../telemetry/mask.ts'
import { UntrustedError } from '../../trust/trust.ts'

/**
 * The reason why an event can never be handled. Dead letters are grouped by `code`, which never changes. `detail` states how to correct the event, and
 * contains no personal data.
 */
export interface Fault {
  code: string
  detail: string
  /** True if the store already has the event's effects. */
  isStored?: boolean
}

/** Wraps an error of a handler, to distinguish bugs of the handler from bugs of the code around it. */
export class HandlerError extends Error {
  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : 'unknown', { cause })
    this.name = 'HandlerError'
  }
}

/** The codes of bugs in handlers, and of bugs in the code around handlers. */
export const bugs: ReadonlySet<string> = new Set(['handler-error', 'internal-error'])

/** The codes of faults that our services cause. The same bytes may succeed after the service is fixed. */
export const ourFaults: ReadonlySet<string> = new Set(['refused', ...bugs])

export function faultCodes(refusals: ReadonlySet<string>): string[] {
  return [...envelopeErrorCodes, ...ourFaults, 'untrusted', ...refusals]
}

/** Returns true if the platform failed, so a later attempt may succeed. */
export function isInfrastructure(error: unknown): boolean {
  const cause = thrownBy(error)
  return cause instanceof OverloadError || (cause instanceof SidecarError && cause.failure !== 'refused')
}

export const thrownBy = (error: unknown): unknown => (error instanceof HandlerError ? error.cause : error)

/**
 * Returns the reason why an event can never be handled. The event is invalid or untrusted, breaks a rule of the domain, or causes a bug.
 * @param refusals codes of the domain's errors
 */
export function faultOf(error: unknown, refusals: ReadonlySet<string>, mask: Pick<Mask, 'text'>): Fault {
  if (error instanceof EnvelopeError) return { code: error.code, detail: JSON.stringify(error.problems) }
  if (error instanceof UntrustedError) return { code: error.code, detail: mask.text(error.message) }
  if (!(error instanceof HandlerError)) return { code: 'internal-error', detail: describe(error, mask) }
  const { cause } = error
  if (cause instanceof SidecarError) return { code: 'refused', detail: mask.text(cause.message) }
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined
  if (code !== undefined && refusals.has(code)) return { code, detail: mask.text((cause as Error).message) }
  const what = cause instanceof EnvelopeError ? 'the handler made an invalid event: ' : ''
  return { code: 'handler-error', detail: `${what}${describe(cause, mask)}` }
}

const describe = (error: unknown, mask: Pick<Mask, 'text'>): string =>
  error instanceof Error ? mask.text(`${error.name}: ${error.message}`) : 'unknown'
