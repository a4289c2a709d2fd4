type StackErrorCode =
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

/** Anything the stack cannot do. `message` says what happened, `nextStep` what the reader can do about it. */
export class StackError extends Error {
  readonly code: StackErrorCode
  readonly nextStep: string | undefined

  constructor(code: StackErrorCode, message: string, options: { nextStep?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'StackError'
    this.code = code
    this.nextStep = options.nextStep
  }
}
