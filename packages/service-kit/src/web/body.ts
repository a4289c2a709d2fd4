import {
  fieldValidator,
  hiddenByParsing,
  inexactNumber,
  isGuidField,
  type Problem,
  pointerOf,
} from '@orderflow/envelope-schema'
import type { Request, RequestHandler } from 'express'
import { nowHandling } from '../telemetry/handling.ts'
import type { BodyKind, Input } from './input.ts'
import { type ContractField, propertiesOf } from './model.ts'
import { type FieldError, HttpProblem, invalid, unavailable } from './problems.ts'

type ContractFields<T> = { [K in keyof T & string]: ContractField }

/**
 * A JSON body whose fields obey the contract: each names the event payload field whose rules it takes over, so that what the API
 * accepts is what the event may say, and the page says the same. All fields are required.
 * @param name of the schema on the page
 * @param example the body that the page offers to send
 */
export function jsonBody<T extends object>(name: string, fields: ContractFields<T>, example: T): Input<T> {
  const read = bodyReader<T>(fields)
  const schema = { type: 'object', required: Object.keys(fields), properties: propertiesOf(fields), example }
  return { read: ({ body }: Request) => read(body), body: { name, schema }, problems: [400, 413, 415] }
}

/**
 * The reader of such a body: GUIDs come lower-cased, and fields that are not listed do not come at all.
 * @throws {HttpProblem} (the reader) 400 naming each field by its JSON pointer
 */
export function bodyReader<T>(fields: ContractFields<T>): (body: unknown) => T {
  const all = Object.entries<ContractField>(fields)
  const validate = fieldValidator(Object.fromEntries(all.map(([name, [type, field]]) => [name, [type, field]])))
  const readers = all.map(([name, [type, field]]) => ({
    name,
    read: isGuidField(type, field) ? (value: unknown) => String(value).toLowerCase() : (value: unknown) => value,
  }))
  return (body) => {
    const given = (body === undefined ? {} : body) as Record<string, unknown>
    const flaws = all.flatMap(([name, [, , rule]]): FieldError[] => {
      const detail = rule?.flaw(Object(given)[name])
      return detail === undefined ? [] : [{ pointer: `/${name}`, detail }]
    })
    const narrowed = new Set(flaws.map(({ pointer }) => pointer))
    const errors = validate(given).map(fieldError)
    const others = errors.filter(({ pointer }) => !narrowed.has(pointer))
    if (others.length + flaws.length > 0) throw invalid([...others, ...flaws])
    return Object.fromEntries(readers.map(({ name, read }) => [name, read(given[name])])) as T
  }
}

function fieldError({ pointer, message, hint }: Problem): FieldError {
  return { pointer, detail: hint ? `${message} (${hint})` : message }
}

/**
 * What all operations take that say nothing else. Far more than any needs: an event takes over known fields of limited length only, so it
 * stays small. As many as there are connections (runtime/listener.ts) may be held.
 */
const smallJson: BodyKind = {
  types: ['application/json'],
  maxBytes: 64 * 1024,
  maxHeldBytes: Number.POSITIVE_INFINITY,
  isJson: true,
}

// A byte order mark is dropped, as its default says.
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Reads the body of a POST. JSON is UTF-8 (RFC 8259, section 8.1), of any kind: the routes tell what they lack. Not express.json, which
 * puts U+FFFD in the place of bytes that are no UTF-8, and a name would be stored like that for ever; and which takes all of a body that
 * is too large before it says so. Nothing is unpacked: 64 KiB may hold 64 MiB.
 * @param kind a small JSON body, unless an operation says otherwise
 * @throws {HttpProblem} (the middleware) 415 for another type, charset or encoding, 413, 503 while too much is held, 400 when JSON is not
 * UTF-8, not JSON, or has a duplicate key or a number that would change
 */
export const readBody = (kind: BodyKind = smallJson): RequestHandler =>
  readBytes(kind, (bytes) => (kind.isJson ? parseJson(bytes) : bytes))

function readBytes(kind: BodyKind, read: (bytes: Buffer) => unknown): RequestHandler {
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
      request.body = bytes.length === 0 ? undefined : read(bytes)
      // Whoever reads bytes tells nothing of what they hold.
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

/**
 * The rest of one that is too large is read and thrown away while the answer is under way, until the listener's time is up.
 * @param hold told of more bytes before they are kept; throws when they may not be
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
    // Nobody reads this answer.
    request.once('error', () =>
      reject(new HttpProblem(400, 'broken-off', 'The body broke off', { detail: 'Send it again.' })),
    )
  })
}

function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem(413, 'too-large', 'The body is too large', {
    detail: `Send at most ${maxBytes} bytes. Nothing was done.`,
  })
}

const tooManyBytes = () => unavailable('Too many large requests are under way. Nothing was done; try again.')

function parseJson(bytes: Uint8Array): unknown {
  const text = decode(bytes)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Not kept as the cause: V8 quotes the text around the mistake in its message.
    throw new HttpProblem(400, 'not-json', 'The body is not JSON', { detail: 'Check quotes, commas and brackets.' })
  }
  const errors = hiddenErrors(bytes)
  if (errors.length > 0) throw invalid(errors)
  return value
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

/** Returns what `JSON.parse` would change without a word: of two equal keys it drops one, and it rounds numbers. */
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

function hasBody(headers: Record<string, unknown>): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0
}
