import http from 'node:http'
import https from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Answer {
  status: number
  headers: http.IncomingHttpHeaders
  /** The parsed JSON of the body; the text of a body that is no JSON. */
  body: Record<string, unknown>
}

interface Request {
  method?: string
  /** Sent as it is if it is text, else as JSON. */
  body?: unknown
  headers?: Record<string, string>
  /** Certificates of authorities to trust. */
  ca?: string
}

/**
 * Sends a request on a connection of its own, so that a restarted server never meets a reused connection.
 * @throws {Error} with a `code` if no answer comes
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
    request.on('timeout', () => request.destroy(Object.assign(new Error(`no answer of ${url}`), { code: 'ETIMEDOUT' })))
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
 * Asks again until there is a result.
 * @throws {Error} naming what did not come, with the last error of `probe`
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
