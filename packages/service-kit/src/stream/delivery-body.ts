import type { BulkEntry } from './record.ts'

const [quote, backslash, openObject, closeObject, openList, closeList] = [...Buffer.from('"\\{}[]')] as [
  number,
  number,
  number,
  number,
  number,
  number,
]

/**
 * Reads the entries of Dapr's raw bulk delivery, `{"entries":[{…},{…}],…}`. It parses each entry when it has arrived. So a large delivery takes
 * little more memory than the values of its records.
 * @throws {TypeError} if the list of entries is incomplete or an entry is invalid
 */
export async function readEntries(body: AsyncIterable<Buffer>): Promise<BulkEntry[]> {
  const entries: BulkEntry[] = []
  let hasList = false
  let isInList = false
  let depth = 0
  let isInText = false
  /** The number of backslashes at the end of the text that has arrived. */
  let backslashes = 0
  let chunk: Buffer = Buffer.alloc(0)
  let next = 0
  let entryStart: number | undefined
  /** The earlier parts of the current entry. */
  let parts: Buffer[] = []

  function skipText(): void {
    const quoteAt = chunk.indexOf(quote, next)
    const end = quoteAt < 0 ? chunk.length : quoteAt
    let other = end
    while (other > next && chunk[other - 1] === backslash) other -= 1
    backslashes = end - other + (other === next ? backslashes : 0)
    next = end
    if (quoteAt < 0) return
    next += 1
    // After an odd number of backslashes, the quotation mark is a part of the text.
    isInText = backslashes % 2 === 1
    backslashes = 0
  }

  function readByte(): void {
    const byte = chunk[next]
    next += 1
    if (byte === quote) isInText = true
    else if (byte === openObject || byte === openList) {
      if (depth === 1) isInList = byte === openList
      if (depth === 2 && isInList) entryStart = next - 1
      depth += 1
    } else if (byte === closeObject || byte === closeList) {
      depth -= 1
      if (depth === 1 && isInList) hasList = true
      if (depth === 2 && entryStart !== undefined) endEntry(entryStart)
    }
  }

  function endEntry(start: number): void {
    entries.push(entryIn(Buffer.concat([...parts, chunk.subarray(start, next)]).toString()))
    entryStart = undefined
    parts = []
  }

  for await (chunk of body) {
    next = 0
    while (next < chunk.length) {
      if (isInText) skipText()
      else readByte()
    }
    if (entryStart === undefined) continue
    parts.push(chunk.subarray(entryStart))
    entryStart = 0
  }
  if (!hasList || depth !== 0) throw new TypeError('the delivery has no complete list of entries')
  return entries
}

function entryIn(text: string): BulkEntry {
  const { entryId, event, metadata } = parse(text) as Omit<BulkEntry, 'value'> & { event: string | null }
  return { entryId, metadata, value: Buffer.from(event ?? '', 'base64') }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The error of V8 is dropped, because its message quotes a part of the event.
    throw new TypeError('an entry of the delivery is not JSON')
  }
}
