import type { ErrorRequestHandler } from 'express'
import type { Logger } from '../telemetry/log.ts'
import { maskedFields } from '../telemetry/mask.ts'
import { problemOf } from './problems/problem-of.ts'
import type { Refusals } from './problems/refusals.ts'
import type { ShownPath } from './shown-path.ts'

/**
 * The last middleware: whatever was thrown leaves as `application/problem+json`, without internals.
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
 *         detail: { type: string, description: 'What is wrong, and how to mend it.' }
 *         instance: { type: string }
 *         errors:
 *           type: array
 *           items:
 *             type: object
 *             properties:
 *               pointer: { type: string, description: 'JSON pointer into the body, or the name of a parameter.' }
 *               detail: { type: string }
 */
export function problemHandler(refusals: Refusals, shown: ShownPath, log: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const { status, code, title, options } = problemOf(error, refusals)
    const path = shown(request.path)
    if (status >= 500) log.error({ err: error, method: request.method, path }, title)
    // Half an answer must not look like a whole one. Express would break off too, but print the error as plain text.
    if (response.headersSent) return response.destroy()
    const { detail, errors, extra, headers } = options
    const type = `urn:orderflow:problem:${code}`
    const members = { type, title, status, detail, instance: request.baseUrl + path, ...(errors && { errors }) }
    response
      .status(status)
      .set(headers ?? {})
      .type('application/problem+json')
      // An extension member takes the place of no other, whatever its name.
      .send(JSON.stringify({ ...members, ...(maskedFields(extra) as object), ...members }))
  }
}
