/** What a caller may know of a step whose outcome nobody does: `details` names what it was about, such as an id. */
export interface Uncertainty {
  details?: Record<string, unknown>
  cause: unknown
}

/**
 * It is not known whether something happened: it was asked for, and no answer came. `message` says what, and how to try again without
 * doing it twice.
 */
export class UncertainError extends Error {
  readonly code = 'uncertain'
  readonly details: Record<string, unknown>
  constructor(detail: string, { details = {}, cause }: Uncertainty) {
    super(detail, { cause })
    this.name = 'UncertainError'
    this.details = details
  }
}
