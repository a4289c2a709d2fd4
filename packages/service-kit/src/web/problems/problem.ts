/** What is wrong with one field: `pointer` is a JSON pointer into the body, or the header's or parameter's name. */
export interface FieldError {
  pointer: string
  detail: string
}

interface ProblemOptions {
  detail: string
  errors?: FieldError[]
  headers?: Record<string, string>
  /** Extension members (RFC 9457, section 3.2), such as the id of what it is about. */
  extra?: Record<string, unknown>
  /** For the log alone. */
  cause?: unknown
}

/** An error that the client gets as RFC 9457 problem details. `code` is stable; `detail` tells how to mend it. */
export class HttpProblem extends Error {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly options: ProblemOptions
  constructor(status: number, code: string, title: string, options: ProblemOptions) {
    super(`${title}: ${options.detail}`, { cause: options.cause })
    this.name = 'HttpProblem'
    this.status = status
    this.code = code
    this.title = title
    this.options = options
  }
}

/** 404 for what a path or id names. */
export function notFound(what: string, detail: string): HttpProblem {
  return new HttpProblem(404, 'not-found', `${what} not found`, { detail })
}

/** 400 naming each field that is wrong. An empty pointer is the body itself. */
export function invalid(errors: FieldError[]): HttpProblem {
  const detail = errors
    .map(({ pointer, detail }) => (pointer ? `${pointer}: ${detail}` : `the body ${detail}`))
    .join('; ')
  return new HttpProblem(400, 'invalid-request', 'The request is not valid', { detail, errors })
}

/** 503: the platform behind this service does not answer; what that means for the request stands in `detail`. */
export function unavailable(detail: string, extra: Record<string, unknown> = {}, cause?: unknown): HttpProblem {
  const headers = { 'retry-after': '1' }
  return new HttpProblem(503, 'unavailable', 'Not available right now', { detail, extra, headers, cause })
}
