import type { Problem } from '../validation/problems.ts'

/** The maximum size of a document in bytes: Kafka's default limit for a record (`message.max.bytes`). */
export const maxDocumentBytes = 2 ** 20

/** Callbacks. `line` is the number of the line in which the document or flaw begins, counted from 1. */
export interface Findings {
  onDocument(bytes: Uint8Array, line: number): void
  /**
   * Receives many whole lines in one call, which is faster than one call for each line. Each line is a document or blank.
   * @returns the number of handled lines, or 0 to receive each line in `onDocument`
   */
  onLines?(bytes: Uint8Array, line: number): number
  /** Receives a problem of the text between documents, or of a document that is too long. */
  onFlaw(flaw: Problem, line: number): void
}

/** In the state `lost`, the rest of the input is ignored. */
type State = 'between' | 'lines' | 'object' | 'list' | 'lost'

const [newline, quote, comma, colon, backslash] = [10, 34, 44, 58, 92]
const [openList, closeList, openObject, closeObject] = [91, 93, 123, 125]
const byteOrderMark = [0xef, 0xbb, 0xbf]
const none = new Uint8Array()
const isSpace = (byte: number | undefined) => byte === 32 || byte === 13 || byte === 10 || byte === 9

/**
 * Finds the documents in chunks of bytes. A document is a JSON text on one or more lines, one of several JSON lines, or an item of a list.
 * If the first document is one line, every later line is treated as one document. A broken line then affects no other line.
 */
export class Splitter {
  readonly #findings: Findings
  readonly #held = new Held(maxDocumentBytes)
  #state: State = 'between'
  /** True until the first byte after a byte order mark. `#marked` counts the bytes of the mark. */
  #isStart = true
  #marked = 0
  #line = 1
  #startLine = 1
  /** True if one document begins and ends on the current line. */
  #isOneLine = false
  #isItem = false
  #hasItems = false
  #depth = 0
  #isText = false
  #isEscaped = false
  /** True if a line ends within a JSON string. The document then ends before the next line that begins with an object. */
  #isTorn = false
  #last = 0
  #isLineStart = false

  constructor(findings: Findings) {
    this.#findings = findings
  }

  write(chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#state === 'lines') at = this.#readLines(chunk, at)
      else if (this.#state === 'between') at = this.#seek(chunk, at)
      else if (this.#state === 'lost') return
      else at = this.#scan(chunk, at)
    }
  }

  end(): void {
    if (this.#state === 'lines') this.#emit(none)
    if (this.#state === 'object' || this.#isItem) this.#emit(none)
    if (this.#state !== 'list') return
    if (this.#isTorn)
      this.#flaw('is a list with an unreadable rest', 'close the text that runs over the end of its line')
    else this.#flaw('ends within a list', 'close the list with ]')
  }

  #flaw(message: string, hint: string, line = this.#line): void {
    this.#findings.onFlaw({ pointer: '', message, hint }, line)
  }

  #emit(last: Uint8Array): void {
    const bytes = this.#held.take(last)
    if (!bytes)
      this.#flaw('is larger than 1 MiB', 'send a smaller document: topics accept no larger record', this.#startLine)
    else if (bytes[0] === openObject || !bytes.every(isSpace)) this.#findings.onDocument(bytes, this.#startLine)
    this.#isItem = false
  }

  #readLines(chunk: Uint8Array, at: number): number {
    let start = at
    const readLine = (end: number) => {
      this.#startLine = this.#line++
      this.#emit(chunk.subarray(start, end))
      start = end + 1
    }
    // The line may have begun in an earlier chunk.
    const first = chunk.indexOf(newline, start)
    if (first >= 0) readLine(first)
    const last = chunk.lastIndexOf(newline)
    const lines = chunk.subarray(start, Math.max(start, last + 1))
    if (lines.length > 0 && lines.length <= maxDocumentBytes) {
      const count = this.#findings.onLines?.(lines, this.#line) ?? 0
      this.#line += count
      if (count > 0) start = last + 1
    }
    for (let end = chunk.indexOf(newline, start); end >= 0; end = chunk.indexOf(newline, start)) readLine(end)
    this.#startLine = this.#line
    this.#held.add(chunk.subarray(start))
    return chunk.length
  }

  #seek(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (this.#isStart) {
        if (byte === byteOrderMark[this.#marked]) {
          this.#marked++
          continue
        }
        this.#isStart = false
        if (this.#marked % 3 !== 0 || byte >= 0xfe) {
          this.#flaw('is not UTF-8 text', 'encode the JSON text as UTF-8')
          return this.#enter('lost', chunk.length)
        }
      }
      if (byte === newline) {
        this.#line++
        if (this.#isOneLine) return this.#enter('lines', at + 1)
      }
      if (isSpace(byte)) continue
      this.#isOneLine = false
      if (byte === openObject) return this.#enter('object', at)
      if (byte === openList) return this.#enter('list', at + 1)
      return this.#enter('lines', at)
    }
    return chunk.length
  }

  #enter(state: State, at: number): number {
    this.#state = state
    this.#startLine = this.#line
    this.#hasItems = false
    this.#depth = 0
    this.#isText = false
    this.#isEscaped = false
    this.#isTorn = false
    this.#isLineStart = false
    return at
  }

  #scan(chunk: Uint8Array, from: number): number {
    let start = from
    for (let at = from; at < chunk.length; at++) {
      const byte = chunk[at] as number
      if (this.#isText) {
        this.#readText(byte)
        continue
      }
      const isLineStart = this.#isLineStart
      this.#isLineStart = byte === newline
      if (byte === newline) this.#line++
      if (isSpace(byte)) {
        if (this.#state === 'list' && !this.#isItem) start = at + 1
        continue
      }
      if (isLineStart && byte === openObject && this.#isBroken()) {
        this.#emit(chunk.subarray(start, at))
        return this.#enter(this.#state === 'list' ? 'list' : 'between', at)
      }
      if (this.#isTorn) continue
      if (this.#state === 'list' && this.#depth === 0 && (byte === comma || byte === closeList)) {
        if (this.#isItem) this.#emit(chunk.subarray(start, at))
        else if (byte === comma || this.#hasItems)
          this.#flaw('has a comma without an item next to it', 'remove the comma')
        else this.#flaw('is an empty list', 'add envelopes to it')
        this.#hasItems = true
        start = at + 1
        this.#startLine = this.#line
        if (byte === closeList) return this.#enter('between', at + 1)
        continue
      }
      if (this.#state === 'list' && !this.#isItem) {
        this.#isItem = true
        this.#startLine = this.#line
        start = at
      }
      this.#last = byte
      if (byte === quote) this.#isText = true
      else if (byte === openObject || byte === openList) this.#depth++
      else if ((byte === closeObject || byte === closeList) && this.#depth > 0) this.#depth--
      if (this.#state === 'object' && this.#depth === 0) {
        this.#emit(chunk.subarray(start, at + 1))
        this.#isOneLine = this.#startLine === this.#line
        return this.#enter('between', at + 1)
      }
    }
    if (this.#state === 'object' || this.#isItem) this.#held.add(chunk.subarray(start))
    return chunk.length
  }

  #readText(byte: number): void {
    if (byte === newline) {
      this.#line++
      this.#isText = false
      this.#isEscaped = false
      this.#isTorn = true
      this.#isLineStart = true
    } else if (this.#isEscaped) this.#isEscaped = false
    else if (byte === backslash) this.#isEscaped = true
    else if (byte === quote) this.#isText = false
  }

  /** Returns true if an object at the beginning of a line cannot belong to the current document. */
  #isBroken(): boolean {
    if (this.#isTorn) return true
    return this.#state === 'object' && ![comma, colon, openList].includes(this.#last)
  }
}

/** Holds those bytes of a document that came in earlier chunks, up to a limit. */
class Held {
  readonly #most: number
  #parts: Uint8Array[] = []
  #length = 0

  constructor(most: number) {
    this.#most = most
  }

  add(part: Uint8Array): void {
    this.#length += part.length
    if (this.#length > this.#most) this.#parts = []
    else if (part.length > 0) this.#parts.push(part)
  }

  /** Returns the whole document, or undefined if it is too long. Releases the held bytes. */
  take(last: Uint8Array): Uint8Array | undefined {
    const [length, parts] = [this.#length + last.length, this.#parts]
    this.#length = 0
    this.#parts = []
    if (length > this.#most) return undefined
    return parts.length === 0 ? last : Buffer.concat([...parts, last])
  }
}
