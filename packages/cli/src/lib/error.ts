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

/** A failure that a command reports. `message` says what happened, `nextStep` what the user can do about it. */
export class CliError extends Error {
  readonly code: CliErrorCode
  readonly nextStep: string | undefined
  /** The status of the HTTP answer that caused it, if there was one. */
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
