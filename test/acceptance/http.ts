import http from 'node:http'
import https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  /** The parsed JSON of the body. If the body is not JSON, the field `text` contains the body. */
  body: Record<string, unknown>
}

interface Request {
  method?: string
  /** A string is sent unchanged, another value as JSON. */
  body?: unknown
  headers?: Record<string, string>
  ca?: string
}

/**
 * Sends each request on a new connection, because a restarted server breaks the connections that are open.
 * @throws {Error} if no answer arrives; the error has a `code`
 */
export async function send(url: string, { method, body, headers, ca }: Request = {}): Promise<Answer> {
  const content = body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body)
  return await new Promise((resolve, reject) => {
    const client = url.startsWith('https:') ? https : http
    const request = client.request(url, {
      method: method ?? (content === undefined ? 'GET' : 'POST'),
      headers: { ...(content !== undefined && { 'Content-Type': 'application/json' }), ...headers },
      agent: false,
      timeout: 10_000,
      ...(ca !== undefined && { ca }),
    })
    request.on('timeout', () =>
      request.destroy(Object.assign(new Error(`no answer from ${url}`), { code: 'ETIMEDOUT' })),
    )
    request.on('error', reject)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed(text) })
      })
    })
    request.end(content)
  })
}

function parsed(text: string): Answer['body'] {
  try {
    return JSON.parse(text)
  } catch {
    return { text }
  }
}

/**
 * Calls `probe` until it returns a result.
 * @throws {Error} after the timeout; the error contains `what` and the last error of `probe`
 */
export async function eventually<T>(what: string, probe: () => Promise<T | undefined>, seconds = 30): Promise<T> {
  const end = Date.now() + seconds * 1000
  let last: unknown
  while (Date.now() < end) {
    try {
      const result = await probe()
      if (result !== undefined) return result
    } catch (error) {
      last = error
    }
    await sleep(100)
  }
  throw new Error(`${what}: not within ${seconds} seconds`, { cause: last })
}
