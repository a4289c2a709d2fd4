/**
 * - `unavailable`: nobody answered, or not what was expected; the outcome of a write is unknown;
 * - `conflict`: somebody else wrote first, nothing was written;
 * - `refused`: too large or malformed for the sidecar, its store or its broker, and will be the next time too.
 */
export type SidecarFailure = 'unavailable' | 'conflict' | 'refused'

/** A sidecar call failed. */
export class SidecarError extends Error {
  readonly code = 'sidecar'
  readonly failure: SidecarFailure
  constructor(what: string, cause: unknown, failure: SidecarFailure = 'unavailable') {
    super(`${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
    this.name = 'SidecarError'
    this.failure = failure
  }
}

/** The words of SQLite, of PostgreSQL and the system, and of MongoDB. */
const diskFull = /disk is full|no space left|OutOfDiskSpace/i

/** Whether an error text of the sidecar, its store or its broker reports a full disk. */
export const reportsFullDisk = (text: string): boolean => diskFull.test(text)

/** The words of gRPC in Go and in JavaScript, of Kafka, and of Dapr's client of Kafka. */
const tooLarge = /message (was )?too large|message.* larger than /i

/** Returns whether an error text reports a message above a limit of the sidecar or its broker. A smaller one may pass; this one never does. */
export const reportsTooLarge = (text: string): boolean => tooLarge.test(text)

/** Whether another writer was faster. */
export function isConflict(error: unknown): boolean {
  return error instanceof SidecarError && error.failure === 'conflict'
}

/** Whether something in a batch must be the reason of the error, and not the platform. */
export function isRefusal(error: unknown): boolean {
  return error instanceof SidecarError && error.failure === 'refused'
}
