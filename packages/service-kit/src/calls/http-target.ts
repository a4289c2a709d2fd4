import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'
import { BrokenCircuitError, CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhenResult } from 'cockatiel'
import { parsedJson } from '../json.ts'
import { asSpan, handled, traceparentOf } from '../telemetry/context.ts'
import { type Address, createResolve, type Resolve } from './allowed-addresses.ts'
import type { CallRequest, CallTarget, Outcome } from './target.ts'

/** The settings of a target, in a section of its own. */
export interface TargetSettings {
  Address: string
  Secret: string
  TimeoutSeconds: number
  Together: number
  KeyHours: number
  Lookup: boolean
  AllowedAddresses: string
}

/** The number of failures in a row after which no requests are made for a while. */
const failuresInRow = 5
const pauseMs = 10_000
/** The largest answer in bytes. */
const maxAnswer = 64 * 1024
/** The statuses that are no refusal: the request may succeed later. */
const passing = new Set([408, 409, 425, 429])

interface Options {
  resolve?: Resolve
  pauseMs?: number
}

/**
 * Creates a target over HTTP. A call is `POST <Address>/<operation>` with JSON and an Idempotency-Key. Status 2xx means done, and 4xx refused. All else is
 * unknown. A lookup is `GET <Address>/<operation>/<key>`, which answers as the call did, or 404 for a key that the target never got.
 * @throws {Error} if the settings are wrong
 */
export function createHttpTarget(name: string, settings: TargetSettings, options: Options = {}): CallTarget {
  if (settings.Address === '') throw new Error(`the address of the target is missing: set ${name}__Address`)
  const base = new URL(settings.Address.replace(/\/*$/, '/'))
  const networks = settings.AllowedAddresses.split(',').flatMap((network) => network.trim() || [])
  const resolve = createResolve(networks, options.resolve)
  const isSecure = base.protocol === 'https:'
  if (!isSecure && networks.length === 0)
    throw new Error(`the address of ${name} must be HTTPS, because AllowedAddresses is empty: ${base.origin}`)
  // Own agents ignore the variables for proxies, through which a request would reach an address that was not checked.
  const agent = isSecure ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const breaker = circuitBreaker(
    handleWhenResult((result) => (result as Outcome).outcome === 'unknown'),
    { halfOpenAfter: options.pauseMs ?? pauseMs, breaker: new ConsecutiveBreaker(failuresInRow) },
  )
  let openedAt = 0
  breaker.onBreak(() => {
    openedAt = performance.now()
  })

  async function send(method: 'GET' | 'POST', path: string, { key, input, signal }: CallRequest) {
    const addresses = await resolve(base.hostname)
    const url = new URL(path, base)
    const body = method === 'POST' ? JSON.stringify(input) : undefined
    const headers = {
      accept: 'application/json',
      'idempotency-key': key,
      ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
      ...(settings.Secret && { authorization: `Bearer ${settings.Secret}` }),
      ...traceHeaders(),
    }
    const options = { method, headers, agent, lookup: pinned(addresses), signal }
    return await answerTo(url, options, body, settings.TimeoutSeconds)
  }

  /** Runs a request. All failures become the outcome `unknown`, with the reason. */
  const asked = <T extends Outcome | { outcome: 'absent' }>(
    operation: string,
    work: () => Promise<T>,
  ): Promise<T | Extract<Outcome, { outcome: 'unknown' }>> =>
    asSpan(`${name} ${operation}`, { kind: 'client', attributes: { 'peer.service': name } }, async () => {
      try {
        return await breaker.execute(work)
      } catch (error) {
        const isPaused = error instanceof BrokenCircuitError
        const paused = `${name} did not answer ${failuresInRow} requests, so none was made`
        return { outcome: 'unknown', reason: isPaused ? paused : (error as Error).message }
      }
    })

  return {
    name,
    keyLifeMs: settings.KeyHours * 3_600_000,
    together: settings.Together,
    isAvailable: () =>
      breaker.state !== CircuitState.Open || performance.now() - openedAt >= (options.pauseMs ?? pauseMs),
    call: (request) => asked(request.operation, async () => outcomeOf(await send('POST', request.operation, request))),
    ...(settings.Lookup && {
      lookup: (request: CallRequest) =>
        asked(`look up ${request.operation}`, async () => {
          const answer = await send('GET', `${request.operation}/${encodeURIComponent(request.key)}`, request)
          return answer.status === 404 ? ({ outcome: 'absent' } as const) : outcomeOf(answer)
        }),
    }),
  }
}

interface Answer {
  status: number
  body: Record<string, unknown> | undefined
}

function outcomeOf({ status, body }: Answer): Outcome {
  if (status >= 200 && status < 300) return { outcome: 'done', answer: body }
  const { detail, title, code, type } = body ?? {}
  const [reason = `status ${status}`] = [detail, title].filter(
    (one) => typeof one === 'string' && one !== '',
  ) as string[]
  if (status < 400 || status >= 500 || passing.has(status)) return { outcome: 'unknown', reason }
  const named = [code, typeof type === 'string' ? type.split(':').at(-1) : undefined]
  const [own = `http-${status}`] = named.filter((one) => typeof one === 'string' && one !== '' && one !== 'blank')
  return { outcome: 'refused', code: own as string, reason }
}

/** Connects to addresses that were checked before. The host is not resolved again. */
const pinned =
  (addresses: Address[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses as [Address]
    if (all) callback(null, addresses)
    else callback(null, first.address, first.family)
  }

/**
 * Sends a request, and reads its answer. It follows no redirect.
 * @throws {Error} if the connection fails, or the answer is late, too large or not a JSON object
 */
async function answerTo(url: URL, options: RequestOptions, body: string | undefined, seconds: number): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, (response) => {
    readBody(response)
      .then((text) => resolve(answerOf(response.statusCode ?? 0, text)))
      .catch(reject)
  })
  const timer = setTimeout(() => request.destroy(new Error(`no answer within ${seconds} s`)), seconds * 1_000)
  request.on('error', reject)
  request.end(body)
  return await promise.finally(() => clearTimeout(timer))
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxAnswer) throw new Error(`the answer has more than ${maxAnswer} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function answerOf(status: number, text: string): Answer {
  const body = text === '' ? undefined : parsedJson(text)
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  if (text !== '' && !isObject && status < 300) throw new Error('the answer is not a JSON object')
  return { status, body: isObject ? (body as Record<string, unknown>) : undefined }
}

/** Returns the header that makes the target's spans children of the current span. */
function traceHeaders(): { traceparent?: string } {
  const { span } = handled() ?? {}
  return span ? { traceparent: traceparentOf(span.context) } : {}
}
