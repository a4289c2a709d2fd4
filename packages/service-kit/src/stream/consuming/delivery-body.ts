import { parsedJson } from '../../json.ts'
import type { BulkEntry } from '../log/record.ts'

/** The bytes of `"`, `\`, `{`, `}`, `[` and `]`. */
const [quote, backslash, openObject, closeObject, openList, closeList] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d]

/**
 * The number of bytes of a delivery after which its entries are handled. The sidecar cannot limit the bytes of a delivery: 200 records
 * (components/subscriptions.*.yaml) of 256 KiB (topic-settings.ts) take 70 MB in base64.
 */
const partBytes = 2 * 1024 * 1024

/** Waits until a part of this size may be handled. Returns a function that ends the turn. */
export type TakeTurn = (bytes: number) => Promise<() => void>

/**
 * Reads the entries of Dapr's raw bulk delivery, `{"entries":[{…},{…}],…}`, in parts of about `partBytes`. While the caller handles a part, the rest
 * of the delivery waits in the socket. So a large delivery takes little more memory than a small one.
 * @param takeTurn limits the parts of all deliveries together
 * @throws {TypeError} if the list of entries is incomplete or an entry is invalid; the caller may already have earlier parts
 */
export async function* readParts(body: AsyncIterable<Buffer>, takeTurn: TakeTurn): AsyncGenerator<BulkEntry[]> {
  let part: BulkEntry[] = []
  /** The number of bytes since the previous part. */
  let bytes = 0
  let hasList = false
  let isInList = false
  let depth = 0
  let isInText = false
  /** The number of backslashes at the end of the text that has arrived. */
  let backslashes = 0
  let chunk: Buffer = Buffer.alloc(0)
  let next = 0
  let entryStart: number | undefined
  /**
   * The beginning of an entry whose end has not arrived. The buffer is reused, because many buffers of this size would be garbage for a long time.
   */
  let kept = Buffer.alloc(0)
  let keptBytes = 0

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
    if (keptBytes > 0) keep(start, next)
    part.push(entryIn(keptBytes > 0 ? kept.toString('utf8', 0, keptBytes) : chunk.toString('utf8', start, next)))
    entryStart = undefined
    keptBytes = 0
  }

  function keep(start: number, end: number): void {
    const length = keptBytes + end - start
    if (kept.length < length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * kept.length))
      kept.copy(larger, 0, 0, keptBytes)
      kept = larger
    }
    chunk.copy(kept, keptBytes, start, end)
    keptBytes = length
  }

  for await (chunk of body) {
    next = 0
    while (next < chunk.length) {
      if (isInText) skipText()
      else readByte()
    }
    if (entryStart !== undefined) {
      keep(entryStart, chunk.length)
      entryStart = 0
    }
    bytes += chunk.length
    if (bytes >= partBytes && part.length > 0) yield* turn()
  }
  if (!hasList || depth !== 0) throw new TypeError('the delivery has no complete list of entries')
  if (part.length > 0) yield* turn()

  async function* turn(): AsyncGenerator<BulkEntry[]> {
    const endTurn = await takeTurn(bytes)
    try {
      yield part
    } finally {
      endTurn()
    }
    part = []
    bytes = 0
  }
}

function entryIn(text: string): BulkEntry {
  const entry = parsedJson(text) as (Omit<BulkEntry, 'value'> & { event: string | null }) | undefined
  if (!entry) throw new TypeError('an entry of the delivery is not JSON')
  const { entryId, event, metadata } = entry
  return { entryId, metadata, value: Buffer.from(event ?? '', 'base64') }
}

/** Returns a function that lets a part wait while earlier parts use the limit, in bytes. A part above the limit is handled alone. */
export function createTurns(limit: number): TakeTurn {
  let used = 0
  const waiting: { bytes: number; begin: () => void }[] = []

  function beginWaiting(): void {
    for (let first = waiting[0]; first && (used === 0 || used + first.bytes <= limit); first = waiting[0]) {
      waiting.shift()
      used += first.bytes
      first.begin()
    }
  }
  return async (bytes) => {
    await new Promise<void>((begin) => {
      waiting.push({ bytes, begin })
      beginWaiting()
    })
    return () => {
      used -= bytes
      beginWaiting()
    }
  }
}
