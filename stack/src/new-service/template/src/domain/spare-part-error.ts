/** `not-found`: nothing is known of it (yet). */
export type SparePartErrorCode = 'not-found'

/** A request or event that breaks a rule of this service. */
export class SparePartError extends Error {
  readonly code: SparePartErrorCode
  constructor(code: SparePartErrorCode, message: string) {
    super(message)
    this.name = 'SparePartError'
    this.code = code
  }
}
