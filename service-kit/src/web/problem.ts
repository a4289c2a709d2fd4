import type { ErrorRequestHandler, RequestHandler } from 'express'
import { OverloadError } from '../sidecar/batcher.ts'
import { SidecarError } from '../sidecar/sidecar.ts'
import type { Logger } from '../telemetry/log.ts'

/** What is wrong with one field: `pointer` is a JSON pointer into the body, or the header's or parameter's name. */
export interface FieldError {
  pointer: string
  detail: string
}

interface ProblemOptions {
  detail: string
  errors?: FieldError[]
  headers?: Record<string, string>
  /** Extension members (RFC 9457, section 3.2), such as the id of the order in question. */
  extra?: Record<string, unknown>
  /** For the log alone. */
  cause?: unknown
}

/** An error that the client gets as RFC 9457 problem details. `code` is stable; `detail` tells how to mend it. */
export class Problem extends Error {
  readonly status: number
  readonly code: string
  readonly title: string
  readonly options: ProblemOptions
  constructor(status: number, code: string, title: string, options: ProblemOptions) {
    super(`${title}: ${options.detail}`, { cause: options.cause })
    this.name = 'Problem'
    this.status = status
    this.code = code
    this.title = title
    this.options = options
  }
}

export function notFound(what: string, detail: string): Problem {
  return new Problem(404, 'not-found', `${what} not found`, { detail })
}

export function invalid(errors: FieldError[]): Problem {
  const detail = errors
    .map(({ pointer, detail }) => (pointer ? `${pointer}: ${detail}` : `the body ${detail}`))
    .join('; ')
  return new Problem(400, 'invalid-request', 'The request is not valid', { detail, errors })
}

/** The platform behind this service does not answer; what that means for the request stands in `detail`. */
export function unavailable(detail: string, extra: Record<string, unknown> = {}, cause?: unknown): Problem {
  const headers = { 'retry-after': '1' }
  return new Problem(503, 'unavailable', 'Not available right now', { detail, extra, headers, cause })
}

/**
 * Answers what no route took: 405 with `Allow` where the path is an operation's, else 404. Paths match as Express matches
 * them: in any case, with or without a slash at the end.
 * @param paths the page's operations, by path template (`/v1/orders/{id}`) and method
 */
export function unknownRoute(paths: Record<string, object>): RequestHandler {
  const routes = Object.entries(paths).map(([template, operations]) => ({
    path: new RegExp(`^${template.replace(/\{\w+\}/g, '[^/]+')}/?$`, 'i'),
    methods: Object.keys(operations).join(', ').toUpperCase(),
  }))
  return (request) => {
    const allow = routes.find(({ path }) => path.test(request.path))?.methods
    const detail = `There is no ${request.method} ${request.path} here. The operations are listed at /docs.`
    if (!allow) throw notFound('Route', detail)
    throw new Problem(405, 'method-not-allowed', 'Method not allowed', { detail, headers: { allow } })
  }
}

/** The last middleware: whatever was thrown leaves as `application/problem+json`, without internals. */
export function problemHandler(log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const problem = asProblem(error)
    if (problem.status >= 500) log.error({ err: error, method: request.method, path: request.path }, problem.title)
    // Half an answer must not look like a whole one. Express would break off too, but print the error as plain text.
    if (response.headersSent) return response.destroy()
    const { detail, errors, extra, headers } = problem.options
    response
      .status(problem.status)
      .set(headers ?? {})
      .type('application/problem+json')
      .send(
        JSON.stringify({
          type: `urn:orderflow:problem:${problem.code}`,
          title: problem.title,
          status: problem.status,
          detail,
          instance: request.originalUrl,
          ...(errors && { errors }),
          ...extra,
        }),
      )
  }
}

function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof OverloadError) return unavailable('Too many requests are waiting. Nothing was done; try again.')
  if (error instanceof SidecarError)
    return unavailable('The sidecar, its broker or its store does not answer. Try again.')
  return (
    bodyProblem(error) ?? new Problem(500, 'internal', 'Something went wrong here', { detail: 'See the service log.' })
  )
}

/** body-parser's errors carry a `type` (https://github.com/expressjs/body-parser#errors). */
function bodyProblem(error: unknown): Problem | undefined {
  const { type, limit, status } = (error ?? {}) as { type?: string; limit?: number; status?: number }
  if (type === 'entity.too.large') {
    return new Problem(413, 'too-large', 'The body is too large', { detail: `Send at most ${limit} bytes.` })
  }
  if (type === 'entity.parse.failed') {
    return new Problem(400, 'not-json', 'The body is not JSON', { detail: 'Check quotes, commas and brackets.' })
  }
  if (type && status && status < 500) {
    return new Problem(status, type.replaceAll('.', '-'), 'The body cannot be read', {
      detail: (error as Error).message,
    })
  }
  if (error instanceof URIError) {
    return new Problem(400, 'bad-path', 'The path is not valid', {
      detail: 'A % in a path is followed by two hex digits.',
    })
  }
  return undefined
}
