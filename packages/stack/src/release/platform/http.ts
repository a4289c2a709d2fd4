import { CliError } from '../../base/error.ts'
import { pause } from '../../base/run-tool.ts'

export interface HttpRequest {
  method: 'GET' | 'POST' | 'PATCH'
  url: string
  headers: Record<string, string>
  body?: unknown
  idempotent: boolean
  /** The name of the setting that contains the address. Error messages contain this name. */
  setting: string
}

export interface Answer {
  status: number
  headers: Headers
  text: string
}

export type Send = (request: HttpRequest) => Promise<Answer>

type Attempt = Pick<HttpRequest, 'url' | 'setting' | 'idempotent'> & { timeoutMs: number }

interface HttpOptions {
  onWait?: (line: string) => void
  signal?: AbortSignal | undefined
  timeoutMs?: number
  sleep?: (ms: number) => Promise<unknown>
}

const attempts = 4
const firstDelayMs = 500
/** The longest wait before a retry, in milliseconds. A request fails if the platform asks for a longer wait. */
const longestWaitMs = 120_000
/** If RateLimit-Remaining is below this value, only one request per second is sent. */
const fewLeft = 20

/**
 * Returns a function that sends requests. It repeats every request after status 429, and idempotent requests also after a 5xx or a broken connection.
 * It respects `Retry-After` and `RateLimit-Remaining`, and does not follow redirects.
 */
export function createHttp(options: HttpOptions = {}): Send {
  const { onWait = () => {}, signal, timeoutMs = 30_000 } = options
  const sleep = options.sleep ?? ((ms: number) => pause(ms, signal))
  let left = Number.POSITIVE_INFINITY

  const once = async ({ method, url, headers, body, setting, idempotent }: HttpRequest): Promise<Answer | Error> => {
    try {
      const response = await fetch(url, {
        method,
        headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
      })
      left = Number(response.headers.get('ratelimit-remaining') ?? Number.POSITIVE_INFINITY)
      return { status: response.status, headers: response.headers, text: await response.text() }
    } catch (cause) {
      if (signal?.aborted) throw new CliError('interrupted', 'interrupted')
      return unreachable(cause, { url, setting, idempotent, timeoutMs })
    }
  }

  return async (request) => {
    for (let attempt = 1; ; attempt += 1) {
      if (left < fewLeft) await sleep(1_000)
      const answer = await once(request)
      const wait = waitBefore(answer, attempt)
      if (attempt === attempts || wait > longestWaitMs || !isWorthRetrying(answer, request)) {
        if (answer instanceof Error) throw answer
        return answer
      }
      const why = answer instanceof Error ? answer.message : `${request.method} answered ${answer.status}`
      onWait(`${why}; again in ${wait / 1000} s`)
      await sleep(wait)
    }
  }
}

function isWorthRetrying(answer: Answer | Error, { idempotent }: HttpRequest): boolean {
  if (answer instanceof Error) return idempotent && !(answer instanceof CliError && answer.code === 'usage')
  return answer.status === 429 || (answer.status >= 500 && idempotent)
}

/** Returns the delay before the next attempt in milliseconds: that of `Retry-After` (seconds or a date), or twice the last delay. */
function waitBefore(answer: Answer | Error, attempt: number): number {
  const backOff = firstDelayMs * 2 ** (attempt - 1)
  const header = answer instanceof Error ? null : answer.headers.get('retry-after')
  if (header === null) return backOff
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isFinite(ms) ? Math.max(ms, 0) : backOff
}

/** Returns the error for a request without an answer. Its code is `usage` if a retry cannot help. */
export function unreachable(cause: unknown, { url, setting, idempotent, timeoutMs }: Attempt): CliError {
  const { host } = new URL(url)
  const reason = (cause as Error).cause ?? cause
  const { code = '', message } = reason as NodeJS.ErrnoException
  const unknown = idempotent ? '' : '; the result is unknown, so check it before you repeat the request'
  if ((cause as Error).name === 'TimeoutError') {
    return new CliError('unreachable', `${host} did not answer within ${timeoutMs / 1000} s${unknown}`, {
      nextStep: `run this again; if it fails again, check ${setting}`,
      cause,
    })
  }
  if (/CERT|SIGNATURE|SELF_SIGNED|ALTNAME/.test(code)) {
    return new CliError('usage', `the certificate of ${host} is not trusted (${code})`, {
      nextStep: `if ${setting} is correct, set NODE_EXTRA_CA_CERTS to the PEM file of the authority that issued the certificate`,
      cause,
    })
  }
  if (code === 'ENOTFOUND') {
    return new CliError('usage', `the host ${host} does not exist`, { nextStep: `check ${setting}`, cause })
  }
  return new CliError('unreachable', `${host} cannot be reached (${code || message})${unknown}`, {
    nextStep: `check your connection and ${setting}`,
    cause,
  })
}
