import type { Request, RequestHandler } from 'express'
import { nowHandling } from '../telemetry/handling.ts'
import { HttpProblem } from './problem.ts'

/** Far more than any request here needs. An event takes over known fields of limited length only, so it stays small. */
const maxBodyBytes = 64 * 1024

// A byte order mark is dropped, as its default says.
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the body of a POST: JSON in UTF-8 (RFC 8259, section 8.1), of any kind: the routes tell what they lack. Not express.json, which
 * puts U+FFFD in the place of bytes that are no UTF-8, and a name would be stored like that for ever; and which takes all of a body that
 * is too large before it says so. Nothing is unpacked: 64 KiB may hold 64 MiB.
 * @throws {HttpProblem} (the middleware) 415 for another type, charset or encoding, 413, 400 when it is not UTF-8 or not JSON
 */
export const readBody: RequestHandler = async (request, _response, next) => {
  if (request.method === 'POST' && hasBody(request.headers)) {
    requireJson(request)
    const bytes = await bytesOf(request)
    request.body = bytes.length === 0 ? undefined : parseJson(decode(bytes))
    nowHandling(request.body)
  }
  next()
}

function requireJson(request: Request): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
  if (!request.is('json')) {
    throw new HttpProblem(415, 'not-json', 'The body is not JSON', { detail: 'Send Content-Type: application/json.' })
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new HttpProblem(415, 'not-utf8', 'The body is not UTF-8', {
      detail: 'JSON is UTF-8: encode the body so, and leave the charset out of Content-Type.',
    })
  }
  if (encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem(415, 'encoded', 'The body is compressed', {
      detail: 'Send the JSON text as it is, without Content-Encoding.',
      headers: { 'accept-encoding': 'identity' },
    })
  }
}

/** The rest of one that is too large is read and thrown away while the answer is under way, until the listener's time is up. */
function bytesOf(request: Request): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw tooLarge()
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= maxBodyBytes) return
      request.off('data', take).resume()
      reject(tooLarge())
    }
    request.on('data', take)
    request.once('end', () => resolve(Buffer.concat(chunks)))
    // Nobody reads this answer.
    request.once('error', () =>
      reject(new HttpProblem(400, 'broken-off', 'The body broke off', { detail: 'Send it again.' })),
    )
  })
}

function tooLarge(): HttpProblem {
  return new HttpProblem(413, 'too-large', 'The body is too large', { detail: `Send at most ${maxBodyBytes} bytes.` })
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new HttpProblem(400, 'not-utf8', 'The body is not UTF-8', {
      detail: 'Encode the JSON text as UTF-8; an é, for instance, is the two bytes C3 A9.',
    })
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Not kept as the cause: V8 quotes the text around the mistake in its message.
    throw new HttpProblem(400, 'not-json', 'The body is not JSON', { detail: 'Check quotes, commas and brackets.' })
  }
}

function hasBody(headers: Record<string, unknown>): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
}
