import { setTimeout as sleep } from 'node:timers/promises'

type ReleaseErrorCode =
  | 'usage'
  | 'settings'
  | 'docker'
  | 'image'
  | 'registry'
  | 'platform'
  | 'unreachable'
  | 'not-live'
  | 'interrupted'
  | 'disk-full'

/** Anything a release cannot do. `message` says what happened, `nextStep` what the operator can do about it. */
export class ReleaseError extends Error {
  readonly code: ReleaseErrorCode
  readonly nextStep: string | undefined
  /** The HTTP status behind it, where there was one. */
  readonly status: number | undefined

  constructor(
    code: ReleaseErrorCode,
    message: string,
    options: { nextStep?: string | undefined; status?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.name = 'ReleaseError'
    this.code = code
    this.nextStep = options.nextStep
    this.status = options.status
  }
}

/** @throws {ReleaseError} `interrupted` when the signal aborts */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {
    throw new ReleaseError('interrupted', 'interrupted')
  })
}
