import { withGuidePaths } from './guides.ts'

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
  | 'cluster-failed'
  | 'not-ready'
  | 'interrupted'
  | 'not-running'
  | 'still-running'
  | 'invalid-event'
  | 'denied'
  | 'disk-full'
  | 'data-lost'
  | 'demo-failed'
  | 'usage'
  | 'settings'
  | 'docker'
  | 'image'
  | 'registry'
  | 'platform'
  | 'unreachable'
  | 'not-live'
  | 'upgrade-failed'

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

/**
 * Prints an error with its next step, and sets the exit code of this process.
 * @throws any error that is not a CliError
 */
export function reportError(error: unknown): void {
  if (!(error instanceof CliError)) throw error
  process.stderr.write(`error: ${withGuidePaths(error.message)}\n`)
  if (error.nextStep) process.stderr.write(`next: ${withGuidePaths(error.nextStep)}\n`)
  process.exitCode = error.code === 'interrupted' ? 130 : 1
}
