export type GatewayErrorCode =
  | 'not-json'
  | 'nothing-sent'
  | 'too-many-items'
  | 'unknown-topic'
  | 'closed-topic'
  | 'nothing-accepted'
  | 'not-admitted'

/** Rejects a whole request. `details` contains the outcomes of its envelopes, if there are any. */
export class GatewayError extends Error {
  readonly code: GatewayErrorCode
  readonly details: Record<string, unknown>
  constructor(code: GatewayErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message)
    this.name = 'GatewayError'
    this.code = code
    this.details = details
  }
}
