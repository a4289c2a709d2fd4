import type { ErrorRequestHandler } from 'express'
import { OverloadError } from '../sidecar/batcher.ts'
import { LostWritesError, reportsFullDisk, SidecarError, UncertainError } from '../sidecar/sidecar.ts'
import type { Logger } from '../telemetry/log.ts'
import type { Mask } from '../telemetry/mask.ts'

/** The error of one field. `pointer` is a JSON pointer into the body, or the name of a header or parameter. */
export type FieldError = Record<'pointer' | 'detail', string>

interface ProblemOptions {
  detail: string
  errors?: FieldError[]
  headers?: Record<string, string>
  /** Extension members (RFC 9457, section 3.2), such as the id of an order. */
  extra?: Record<string, unknown>
  /** The cause, which is only logged. */
  cause?: unknown
}

/** An error that the client receives as RFC 9457 problem details. `code` never changes, and `detail` contains the fix. */
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

export const notFound = (what: string, detail: string): HttpProblem =>
  new HttpProblem(404, 'not-found', `${what} not found`, { detail })

/** Returns a problem with status 400 that names each wrong field. An empty pointer refers to the whole body. */
export function invalid(errors: FieldError[]): HttpProblem {
  const detail = errors
    .map(({ pointer, detail }) => (pointer ? `${pointer}: ${detail}` : `the body ${detail}`))
    .join('; ')
  return new HttpProblem(400, 'invalid-request', 'The request is not valid', { detail, errors })
}

/** Returns a problem with status 503. `detail` describes the effect of the outage on the request. */
export function unavailable(detail: string, extra: Record<string, unknown> = {}, cause?: unknown): HttpProblem {
  const headers = { 'retry-after': '1' }
  return new HttpProblem(503, 'unavailable', 'Not available right now', { detail, extra, headers, cause })
}

export type Refusals = Record<string, { status: number; title: string }>

/**
 * Returns the problem for an error of the domain; undefined for any other error. The error's `details` become extension members. Personal data in
 * the message is masked.
 */
function refusalProblem(error: unknown, refusals: Refusals, mask: Mask): HttpProblem | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, details } = error as { code?: unknown; details?: unknown }
  const refusal = typeof code === 'string' && Object.hasOwn(refusals, code) ? refusals[code] : undefined
  if (!refusal) return undefined
  const extra = isPlainObject(details) ? details : {}
  const detail = mask.text(error.message)
  return new HttpProblem(refusal.status, code as string, refusal.title, { detail, extra, cause: error })
}

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Returns the problem for an error of this package or of the domain. Any other error becomes a 500, which shows no internals. */
export function problemOf(error: unknown, refusals: Refusals, mask: Mask): HttpProblem {
  if (error instanceof HttpProblem) return error
  return (
    platformProblem(error, mask) ??
    cursorProblem(error) ??
    refusalProblem(error, refusals, mask) ??
    pathProblem(error) ??
    new HttpProblem(500, 'internal', 'The service failed', { detail: 'This is a bug. See the log of the service.' })
  )
}

function platformProblem(error: unknown, mask: Mask): HttpProblem | undefined {
  if (error instanceof UncertainError) return unavailable(mask.text(error.message), error.details, error.cause)
  if (error instanceof OverloadError)
    return unavailable('Too many requests are waiting. The request had no effect; try again.')
  if (!(error instanceof SidecarError)) return undefined
  if (error instanceof LostWritesError) return unavailable('The store lost data. Try again after its rebuild.')
  if (reportsFullDisk(error.message))
    return unavailable('The disk of the state store is full. Free some space, then try again.')
  return unavailable('The sidecar, its broker or its store does not answer. Try again.')
}

function cursorProblem(error: unknown): HttpProblem | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'cursor') return undefined
  return invalid([{ pointer: 'cursor', detail: error.message }])
}

function pathProblem(error: unknown): HttpProblem | undefined {
  if (!(error instanceof URIError)) return undefined
  const detail = 'In a path, % must be followed by two hex digits.'
  return new HttpProblem(400, 'bad-path', 'The path is not valid', { detail })
}

/**
 * Returns the last middleware, which answers every error as `application/problem+json`, without internals.
 * @openapi
 * components:
 *   schemas:
 *     Problem:
 *       type: object
 *       description: RFC 9457 problem details.
 *       example:
 *         type: urn:orderflow:problem:invalid-request
 *         title: The request is not valid
 *         status: 400
 *         detail: '/name: is missing'
 *         instance: /v1/items
 *         errors: [{ pointer: /name, detail: is missing }]
 *       properties:
 *         type: { type: string }
 *         title: { type: string }
 *         status: { type: integer }
 *         detail: { type: string, description: 'What is wrong, and how to fix it.' }
 *         instance: { type: string }
 *         errors:
 *           type: array
 *           items:
 *             type: object
 *             properties:
 *               pointer: { type: string, description: 'JSON pointer into the body, or the name of a parameter.' }
 *               detail: { type: string }
 */
export function problemHandler(refusals: Refusals, shown: (path: string) => string, log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const { status, code, title, options } = problemOf(error, refusals, log.mask)
    const path = shown(request.path)
    if (status >= 500) log.error({ err: error, method: request.method, path }, title)
    // The answer has already begun, so the connection is closed: a partial answer must not look complete.
    if (response.headersSent) return response.destroy()
    const { detail, errors, extra, headers } = options
    const type = `urn:orderflow:problem:${code}`
    const members = { type, title, status, detail, instance: request.baseUrl + path, ...(errors && { errors }) }
    response
      .status(status)
      .set(headers ?? {})
      .type('application/problem+json')
      // Standard members replace extension members of the same name.
      .send(JSON.stringify({ ...members, ...(log.mask.fields(extra) as object), ...members }))
  }
}
