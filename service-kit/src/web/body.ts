import express, { type RequestHandler, Router } from 'express'
import { HttpProblem } from './problem.ts'

/** Far more than any request here needs. An event takes over known fields of limited length only, so it stays small. */
const maxBodyBytes = 64 * 1024

// A byte order mark is dropped, as its default says.
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the body of a POST: JSON in UTF-8 (RFC 8259, section 8.1), of any kind: the routes tell what they lack. Not express.json, which
 * puts U+FFFD in the place of bytes that are no UTF-8, and a name would be stored like that for ever.
 * @throws {HttpProblem} (the middleware) 415 for another type or charset, 413, 400 when it is not UTF-8 or not JSON
 */
export function bodies(): Router {
  return Router().use(requireJson, express.raw({ type: () => true, limit: maxBodyBytes }), parse)
}

const requireJson: RequestHandler = (request, _response, next) => {
  const type = request.headers['content-type'] ?? ''
  if (request.method !== 'POST' || !hasBody(request.headers)) return next('router')
  if (!request.is('json')) {
    throw new HttpProblem(415, 'not-json', 'The body is not JSON', { detail: 'Send Content-Type: application/json.' })
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1]
  if (charset === undefined || /^utf-?8$/i.test(charset)) return next()
  throw new HttpProblem(415, 'not-utf8', 'The body is not UTF-8', {
    detail: 'JSON is UTF-8: encode the body so, and leave the charset out of Content-Type.',
  })
}

const parse: RequestHandler = (request, _response, next) => {
  const bytes = request.body as Uint8Array
  request.body = bytes.length === 0 ? undefined : parseJson(decode(bytes))
  next()
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

/** What went wrong while a body was read: body-parser's errors carry a `type` (https://github.com/expressjs/body-parser#errors). */
export function bodyProblem(error: unknown): HttpProblem | undefined {
  const { type, limit, status } = (error ?? {}) as { type?: string; limit?: number; status?: number }
  if (type === 'entity.too.large') {
    return new HttpProblem(413, 'too-large', 'The body is too large', { detail: `Send at most ${limit} bytes.` })
  }
  if (!type || !status || status >= 500) return undefined
  return new HttpProblem(status, type.replaceAll('.', '-'), 'The body cannot be read', {
    detail: (error as Error).message,
  })
}
