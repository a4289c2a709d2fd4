import { OverloadError } from '../../sidecar/batcher.ts'
import { reportsFullDisk, SidecarError, UncertainError } from '../../sidecar/sidecar.ts'
import { maskedText } from '../../telemetry/mask.ts'
import { HttpProblem, invalid, unavailable } from './problem.ts'
import { type Refusals, refusalProblem } from './refusals.ts'

/** The problem that an error is for a client: the kit's own errors, the domain's by its table, and 500 without internals for all else. */
export function problemOf(error: unknown, refusals: Refusals): HttpProblem {
  if (error instanceof HttpProblem) return error
  return (
    platformProblem(error) ??
    cursorProblem(error) ??
    refusalProblem(error, refusals) ??
    pathProblem(error) ??
    new HttpProblem(500, 'internal', 'Something went wrong here', { detail: 'See the service log.' })
  )
}

function platformProblem(error: unknown): HttpProblem | undefined {
  if (error instanceof UncertainError) return unavailable(maskedText(error.message), error.details, error.cause)
  if (error instanceof OverloadError) return unavailable('Too many requests are waiting. Nothing was done; try again.')
  if (!(error instanceof SidecarError)) return undefined
  if (reportsFullDisk(error.message)) {
    return unavailable('The disk of the state store is full. Try again once its operator has freed some space.')
  }
  return unavailable('The sidecar, its broker or its store does not answer. Try again.')
}

/** Of the list (state/list-page.ts), which knows nothing of HTTP. */
function cursorProblem(error: unknown): HttpProblem | undefined {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'cursor') return undefined
  return invalid([{ pointer: 'cursor', detail: error.message }])
}

/** Express decodes the parameters of a path with decodeURIComponent. */
function pathProblem(error: unknown): HttpProblem | undefined {
  if (!(error instanceof URIError)) return undefined
  const detail = 'A % in a path is followed by two hex digits.'
  return new HttpProblem(400, 'bad-path', 'The path is not valid', { detail })
}
