import { EnvelopeError } from '@orderflow/envelope-schema'
import { OverloadError } from '../sidecar/batcher.ts'
import { SidecarError } from '../sidecar/sidecar.ts'

/** Why an event can never be handled. `code` is stable and groups dead letters; `detail` tells what to mend. */
export interface Fault {
  code: string
  detail: string
}

/** An event that contradicts what is known and always will: it becomes a dead letter with this code. */
export class PermanentFault extends Error {
  readonly fault: Fault
  constructor(code: string, detail: string) {
    super(`${code}: ${detail}`)
    this.name = 'PermanentFault'
    this.fault = { code, detail }
  }
}

/** Codes that blame us and not the event: the same bytes may pass once the service or its platform is mended. */
export const ourFaults: ReadonlySet<string> = new Set(['refused', 'handler-error'])

/** Whether the platform failed, and the same may succeed later: nothing is wrong with the event or request. */
export function isInfrastructure(error: unknown): boolean {
  return error instanceof OverloadError || (error instanceof SidecarError && error.failure !== 'refused')
}

/** What can never succeed: an invalid event, a contradiction, or a bug in the handler that this event meets. */
export function faultOf(error: unknown): Fault {
  if (error instanceof PermanentFault) return error.fault
  if (error instanceof EnvelopeError) return { code: error.code, detail: JSON.stringify(error.problems) }
  if (error instanceof SidecarError) return { code: 'refused', detail: error.message }
  return { code: 'handler-error', detail: error instanceof Error ? `${error.name}: ${error.message}` : 'unknown' }
}
