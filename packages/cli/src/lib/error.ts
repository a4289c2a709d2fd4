type CliErrorCode =
  | 'tools-missing'
  | 'provision-failed'
  | 'wrong-hash'
  | 'no-engine'
  | 'no-images'
  | 'busy'
  | 'port-in-use'
  | 'process-died'
  | 'compose-failed'
  | 'not-ready'
  | 'interrupted'
  | 'not-running'
  | 'still-running'
  | 'invalid-event'
  | 'denied'
  | 'disk-full'
  | 'demo-failed'
  | 'usage'
  | 'settings'
  | 'docker'
  | 'image'
  | 'registry'
  | 'platform'
  | 'unreachable'
  | 'not-live'

/** The problem is in `message`, the user's next step in `nextStep`. */
export class CliError extends Error {
  readonly code: CliErrorCode
  readonly nextStep: string | undefined
  /** The HTTP status that caused the failure. */
  readonly status: number | undefined

  constructor(
    code: CliErrorCode,
    message: string,
    options: { nextStep?: string | undefined; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'CliError'
    this.code = code
    this.nextStep = options.nextStep
    this.status = options.status
  }
}
