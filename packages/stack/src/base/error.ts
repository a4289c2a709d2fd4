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
 * Returns the error to report if the system refused a file or a signal, for example because of its permissions. Returns undefined for other errors, which
 * are defects.
 */
function systemError(error: unknown): CliError | undefined {
  const { code, syscall, path, dest, message } = error as NodeJS.ErrnoException & { dest?: string }
  if (code === undefined || syscall === undefined) return undefined
  if (code === 'EPERM' && syscall === 'kill') {
    const nextStep = 'run this as the user who started the stack'
    return new CliError('denied', 'a process of the stack belongs to another user', { nextStep, cause: error })
  }
  if (path === undefined) return undefined
  if (syscall.startsWith('spawn')) {
    const nextStep = './orderflow doctor lists the tools and how to install them'
    return new CliError('tools-missing', `${path} cannot be started: ${code}`, { nextStep, cause: error })
  }
  const isDenied = ['EACCES', 'EPERM', 'EROFS'].includes(code)
  const nextStep = `${isDenied ? 'run this as a user who may write there' : 'correct or remove it'} (ls -ld ${dest ?? path})`
  return new CliError(isDenied ? 'denied' : 'usage', `the system refuses a file: ${message}`, {
    nextStep,
    cause: error,
  })
}

/**
 * Prints an error with its next step, and sets the exit code of this process.
 * @throws any error that is neither a CliError nor the system's refusal of a file or signal
 */
export function reportError(failure: unknown): void {
  const error = failure instanceof CliError ? failure : systemError(failure)
  if (error === undefined) throw failure
  process.stderr.write(`error: ${withGuidePaths(error.message)}\n`)
  if (error.nextStep) process.stderr.write(`next: ${withGuidePaths(error.nextStep)}\n`)
  process.exitCode = error.code === 'interrupted' ? 130 : 1
}

/** Returns the result of `work`, or undefined if it throws. */
export function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the object of a JSON text. Returns undefined for another value, and for a text that is not JSON. */
export function objectIn(json: string): Record<string, unknown> | undefined {
  const value: unknown = attempt(() => JSON.parse(json))
  return isObject(value) ? value : undefined
}

/** Returns true if a promise is fulfilled, false if it is rejected. */
export const succeeds = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  )
