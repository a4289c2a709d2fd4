import { maskedText } from '../../telemetry/mask.ts'
import { HttpProblem } from './problem.ts'

/** How an error of the domain leaves: as a problem of this status, with this title. */
export interface Refusal {
  status: number
  title: string
}

/** The errors with which the domain refuses, by their `code`. Each is an Error whose message tells how to mend it. */
export type Refusals = Record<string, Refusal>

/**
 * The problem that an error of the domain is; undefined for any other error. Its `details`, if any, become extension members. Should
 * it repeat something personal of the request, that is masked.
 */
export function refusalProblem(error: unknown, refusals: Refusals): HttpProblem | undefined {
  if (!(error instanceof Error)) return undefined
  const { code, details } = error as { code?: unknown; details?: unknown }
  const refusal = typeof code === 'string' && Object.hasOwn(refusals, code) ? refusals[code] : undefined
  if (!refusal) return undefined
  const extra = isPlainObject(details) ? details : {}
  const detail = maskedText(error.message)
  return new HttpProblem(refusal.status, code as string, refusal.title, { detail, extra, cause: error })
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
