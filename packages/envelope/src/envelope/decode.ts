import { EnvelopeError, type Problem } from '../validation/error.ts'

// A byte order mark is dropped, as its default says.
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The JSON value in `bytes`, which are UTF-8 with or without a byte order mark. Of a duplicate key the last one counts
 * (ECMA-262, JSON.parse). Numbers are 64-bit doubles: an integer beyond 2^53 loses digits, as RFC 7493 warns.
 * @throws {EnvelopeError} `not-utf8` or `not-json`
 */
export function decode(bytes: Uint8Array): unknown {
  if (bytes.length === 0) throw notJson({ message: 'is empty', hint: 'an empty value is a tombstone, not an event' })
  const text = decodeText(bytes)
  try {
    return JSON.parse(text)
  } catch (error) {
    // Not kept as the cause: V8 quotes the text around the mistake in its message.
    throw notJson(syntaxProblem((error as Error).message))
  }
}

function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    const problem = { pointer: '', message: 'is not UTF-8 text', hint: 'encode the JSON text as UTF-8' }
    throw new EnvelopeError({ code: 'not-utf8', problems: [problem] }, { cause })
  }
}

/** Only the position is taken over, and only from the end: a message that quotes the text ends in `is not valid JSON`. */
function syntaxProblem(message: string): Omit<Problem, 'pointer'> {
  const [, position, line, column] = / at position (\d+) \(line (\d+) column (\d+)\)$/.exec(message) ?? []
  // Of a text of one line its reader may know another number.
  const place = line === '1' ? '' : ` (line ${line}, column ${column})`
  if (position) return { message: `is not JSON: see position ${position}${place}` }
  if (/^Unexpected end of JSON input$/.test(message)) return { message: 'is not JSON: the text ends too early' }
  return { message: 'is not JSON' }
}

function notJson(problem: Omit<Problem, 'pointer'>): EnvelopeError {
  return new EnvelopeError({ code: 'not-json', problems: [{ pointer: '', ...problem }] })
}

/** Returns whether the text in `bytes` has no escapes, so that `limitProblems` can skip its texts. */
export function isPlain(bytes: Uint8Array): boolean {
  return !bytes.includes(0x5c)
}
