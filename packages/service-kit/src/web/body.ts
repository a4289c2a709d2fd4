import { hiddenByParsing, inexactNumber, pointerOf } from '@orderflow/envelope'
import type { Request, RequestHandler } from 'express'
import { parsedJson } from '../json.ts'
import { nowHandling } from '../telemetry/context.ts'
import type { BodyKind } from './input.ts'
import { type FieldError, HttpProblem, invalid, unavailable } from './problems.ts'

/**
 * The default kind of body. Its limit is far above the size of events. The number of connections limits the memory of all bodies together
 * (runtime/process/listener.ts).
 */
const smallJson: BodyKind = {
  types: ['application/json'],
  maxBytes: 64 * 1024,
  maxHeldBytes: Number.POSITIVE_INFINITY,
  isJson: true,
}

// TextDecoder drops a byte order mark by default.
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Creates the middleware that reads the body of a POST. JSON must be UTF-8 (RFC 8259, section 8.1). Express's own parser would replace invalid bytes
 * with U+FFFD, and read large bodies to their end. Compressed bodies are refused, because 64 KiB of compressed bytes may contain 64 MiB.
 * @param kind the kind of body; the default is a small JSON body
 * @throws {HttpProblem} (the middleware) 400 for invalid JSON, 413 for a large body, 415 for a wrong type, 503 if memory is short
 */
export function readBody(kind: BodyKind = smallJson): RequestHandler {
  let heldBytes = 0
  return async (request, response, next) => {
    if (request.method === 'POST' && hasBody(request.headers)) {
      requireKind(request, kind)
      let ownBytes = 0
      response.once('close', () => (heldBytes -= ownBytes))
      const hold = (more: number) => {
        if (heldBytes + more > kind.maxHeldBytes) throw tooManyBytes()
        heldBytes += more
        ownBytes += more
      }
      const bytes = await bytesOf(request, kind.maxBytes, hold)
      request.body = bytes.length === 0 ? undefined : kind.isJson ? parseJson(bytes) : bytes
      // Only small JSON bodies are kept for masking. The content of other bodies is never logged.
      nowHandling(kind === smallJson ? request.body : undefined)
    }
    next()
  }
}

function requireKind(request: Request, { types }: BodyKind): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = request.headers
  if (!request.is([...types])) {
    const detail = `Send Content-Type: ${types.join(' or ')}.`
    throw new HttpProblem(415, 'not-json', 'The body is not JSON', { detail, headers: { accept: types.join(', ') } })
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) {
    throw new HttpProblem(415, 'not-utf8', 'The body is not UTF-8', {
      detail: 'JSON must be UTF-8: encode the body as UTF-8, and leave the charset out of Content-Type.',
    })
  }
  if (encoding.toLowerCase() !== 'identity') {
    throw new HttpProblem(415, 'encoded', 'The body is compressed', {
      detail: 'Send the JSON text without Content-Encoding.',
      headers: { 'accept-encoding': 'identity' },
    })
  }
}

/**
 * Reads the bytes of a body. The rest of a large body is dropped while the answer is sent.
 * @param hold receives the size of each chunk before the chunk is kept in memory; throws if the chunk exceeds the memory limit
 */
function bytesOf(request: Request, maxBytes: number, hold: (more: number) => void): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    const take = (chunk: Buffer) => {
      try {
        size += chunk.length
        if (size > maxBytes) throw tooLarge(maxBytes)
        hold(chunk.length)
        chunks.push(chunk)
      } catch (problem) {
        request.off('data', take).resume()
        reject(problem)
      }
    }
    request.on('data', take)
    request.once('end', () => resolve(Buffer.concat(chunks)))
    request.once('error', () =>
      reject(new HttpProblem(400, 'broken-off', 'The body is incomplete', { detail: 'Send it again.' })),
    )
  })
}

function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem(413, 'too-large', 'The body is too large', {
    detail: `Send at most ${maxBytes} bytes. The request had no effect.`,
  })
}

const tooManyBytes = () => unavailable('Too many large requests are in progress. The request had no effect; try again.')

function parseJson(bytes: Uint8Array): unknown {
  const value = parsedJson(decode(bytes))
  if (value === undefined)
    throw new HttpProblem(400, 'not-json', 'The body is not JSON', { detail: 'Check quotes, commas and brackets.' })
  const errors = hiddenErrors(bytes)
  if (errors.length > 0) throw invalid(errors)
  return value
}

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new HttpProblem(400, 'not-utf8', 'The body is not UTF-8', {
      detail: 'Encode the JSON text as UTF-8. For example, é is the two bytes C3 A9.',
    })
  }
}

/** Returns an error for each part that `JSON.parse` would silently change: duplicate keys, and numbers with too many digits. */
export function hiddenErrors(json: Uint8Array): FieldError[] {
  const { duplicateKeys, inexactNumbers } = hiddenByParsing(json)
  const duplicates = new Map(
    duplicateKeys.map((keys) => {
      const pointer = pointerOf(keys)
      const isShown = pointer.split('/').length === keys.length + 1
      return [pointer, `${isShown ? 'occurs' : 'has a key'} twice: write each key once`]
    }),
  )
  const numbers = [...new Set(inexactNumbers.map(pointerOf))].map((pointer) => {
    const { message, hint } = inexactNumber(pointer)
    return { pointer, detail: `${message} (${hint})` }
  })
  return [...Array.from(duplicates, ([pointer, detail]) => ({ pointer, detail })), ...numbers]
}

const hasBody = (headers: Record<string, unknown>): boolean =>
  'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
