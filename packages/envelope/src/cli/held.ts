/** Bytes of a document that came in earlier chunks, no more of them than `most`. */
export class Held {
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

  /** All of it with its last part, and nothing is held any more; undefined when it is too long. */
  take(last: Uint8Array): Uint8Array | undefined {
    const [length, parts] = [this.#length + last.length, this.#parts]
    this.#length = 0
    this.#parts = []
    if (length > this.#most) return undefined
    return parts.length === 0 ? last : Buffer.concat([...parts, last])
  }
}
