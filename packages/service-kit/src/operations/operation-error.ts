/** What an operator's command cannot do. `message` says what happened, `nextStep` what the reader can do about it. */
export class OperationError extends Error {
  readonly code = 'operation'
  readonly nextStep: string | undefined
  constructor(message: string, options: { nextStep?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause })
    this.name = 'OperationError'
    this.nextStep = options.nextStep
  }
}
