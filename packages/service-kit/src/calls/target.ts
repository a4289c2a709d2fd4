/** A request of a call to its target. */
export interface CallRequest {
  operation: string
  /** The idempotency key: each try of one attempt has the same. */
  key: string
  input: unknown
  /** Aborted when the service ends or the time for the try is over. */
  signal: AbortSignal
}

/**
 * The outcome of a call. `refused`: the target has declined it for good, without an effect. `unknown`: the target perhaps did it, for example because
 * the answer was lost.
 */
export type Outcome =
  | { outcome: 'done'; answer?: object | undefined }
  | { outcome: 'refused'; code: string; reason: string }
  | { outcome: 'unknown'; reason: string }

/** Another system that entities call. */
export interface CallTarget {
  name: string
  /** The time in milliseconds for which the target remembers a key. */
  keyLifeMs: number
  /** The largest number of calls that a process makes at the same time. Default: 10. */
  together?: number
  /** Returns false while the target does not answer. Calls then wait, and are not tried. Default: true. */
  isAvailable?(): boolean
  /** Never throws for a failure of the target. */
  call(request: CallRequest): Promise<Outcome>
  /** Asks what became of a key. `absent`: the target never got it. Missing if the target cannot tell. */
  lookup?(request: CallRequest): Promise<Outcome | { outcome: 'absent' }>
}
